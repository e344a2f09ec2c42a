package system_test

import (
	"context"
	"net"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"stet/core/kafka"
)

func TestEachListenerTellsItsOwnAddress(t *testing.T) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	second := free.Addr().String()
	free.Close()
	o := options(t)
	o.Clients = []kafka.NamedListener{
		{Name: "IN", Bind: "127.0.0.1:0"}, {Name: "OUT", Bind: second, Host: "kafka.example", Port: 9},
	}
	first, stop := serve(t, o)
	require.Equal(t, []string{first}, brokersAt(t, first))
	require.Equal(t, []string{"kafka.example:9"}, brokersAt(t, second))
	require.NoError(t, stop())
}

// brokersAt returns the addresses of brokers that a client at an address is told.
func brokersAt(t *testing.T, address string) (told []string) {
	client, err := kgo.NewClient(kgo.SeedBrokers(address))
	require.NoError(t, err)
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	resp, err := kmsg.NewPtrMetadataRequest().RequestWith(ctx, client.SeedBrokers()[0])
	require.NoError(t, err)
	for _, b := range resp.Brokers {
		told = append(told, net.JoinHostPort(b.Host, strconv.Itoa(int(b.Port))))
	}
	return told
}
