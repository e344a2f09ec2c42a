package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// topicFlags are what the commands about topics have in common.
type topicFlags struct {
	bootstrap string
	json      bool
	replicas  bool
}

func topicCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "topic",
		Short: "Look at the topics of a running cluster",
		Args:  cobra.NoArgs,
	}
	c.AddCommand(topicListCommand(), topicDescribeCommand())
	return c
}

func topicListCommand() *cobra.Command {
	var flags topicFlags
	c := &cobra.Command{
		Use:   "list",
		Short: "Print a line for each topic",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return flags.run(c.Context(), func(ctx context.Context, p *printer, client *kgo.Client) error {
				topics, err := describeTopics(ctx, client, "")
				for i := range topics {
					printTopic(p, &topics[i])
				}
				return err
			})
		},
	}
	flags.add(c)
	return c
}

func topicDescribeCommand() *cobra.Command {
	var flags topicFlags
	c := &cobra.Command{
		Use:   "describe NAME",
		Short: "Print a topic, its partitions, and their replicas",
		Long: `Print a line of key=value pairs for the topic and for each partition, as the metadata have them. With
--replicas every broker is asked, fenced ones too and whoever leads, for what it has: a line for each
replica with its role, the state of its log, its ends, and whether it is in the ISR or the ELR.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return flags.run(c.Context(), func(ctx context.Context, p *printer, client *kgo.Client) error {
				return flags.describe(ctx, p, client, args[0])
			})
		},
	}
	flags.add(c)
	c.Flags().BoolVar(&flags.replicas, "replicas", false, "ask every broker for its replicas")
	return c
}

func (f *topicFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.bootstrap, "bootstrap", "127.0.0.1:9092", "HOST:PORT of brokers, with commas")
	c.Flags().BoolVar(&f.json, "json", false, "a JSON object a line")
}

// run does something with a client, and prints what it gives.
func (f *topicFlags) run(ctx context.Context,
	do func(context.Context, *printer, *kgo.Client) error,
) error {
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, describeTimeout)
	defer cancel()
	client, err := kgo.NewClient(kgo.SeedBrokers(strings.Split(f.bootstrap, ",")...))
	if err != nil {
		return fmt.Errorf("cluster at %s: %w", f.bootstrap, err)
	}
	defer client.Close()
	p := &printer{out: bufio.NewWriter(os.Stdout), json: f.json}
	defer p.out.Flush()
	if err := do(ctx, p, client); err != nil {
		return fmt.Errorf("cluster at %s: %w", f.bootstrap, err)
	}
	return nil
}

func (f *topicFlags) describe(ctx context.Context, p *printer, client *kgo.Client, name string) error {
	topics, err := describeTopics(ctx, client, name)
	if err != nil {
		return err
	}
	var replicas []brokerReplicas
	if f.replicas {
		if replicas, err = askReplicas(ctx, client, name); err != nil {
			return err
		}
	}
	for i := range topics {
		printTopic(p, &topics[i])
		printPartitions(p, &topics[i], replicas, f.replicas)
	}
	return nil
}

type (
	topicDescription     = kmsg.DescribeTopicPartitionsResponseTopic
	partitionDescription = kmsg.DescribeTopicPartitionsResponseTopicPartition
)

// describeTopics asks a broker for a topic, or for all without a name, page by page.
func describeTopics(ctx context.Context, client *kgo.Client, name string) ([]topicDescription, error) {
	req := kmsg.NewPtrDescribeTopicPartitionsRequest()
	req.ResponsePartitionLimit = 2000
	if name != "" {
		topic := kmsg.NewDescribeTopicPartitionsRequestTopic()
		topic.Topic = name
		req.Topics = append(req.Topics, topic)
	}
	var out []topicDescription
	for {
		page, err := req.RequestWith(ctx, client)
		if err != nil {
			return nil, err
		}
		for _, t := range page.Topics {
			if err := kerr.ErrorForCode(t.ErrorCode); err != nil {
				return nil, fmt.Errorf("topic %s: %w", *t.Topic, err)
			}
			if n := len(out); n > 0 && *out[n-1].Topic == *t.Topic {
				out[n-1].Partitions = append(out[n-1].Partitions, t.Partitions...)
			} else {
				out = append(out, t)
			}
		}
		if page.NextCursor == nil {
			return out, nil
		}
		cursor := kmsg.NewDescribeTopicPartitionsRequestCursor()
		cursor.Topic, cursor.Partition = page.NextCursor.Topic, page.NextCursor.Partition
		req.Cursor = &cursor
	}
}

func printTopic(p *printer, t *topicDescription) {
	replicas := 0
	if len(t.Partitions) > 0 {
		replicas = len(t.Partitions[0].Replicas)
	}
	p.line("topic", *t.Topic, "id", kmsgID(t.TopicID), "partitions", len(t.Partitions),
		"replicationFactor", replicas)
}

// printPartitions prints each partition, followed by its replicas in order of preference.
func printPartitions(p *printer, t *topicDescription, all []brokerReplicas, asked bool) {
	for i := range t.Partitions {
		d := &t.Partitions[i]
		p.line("partition", d.Partition, "leader", d.LeaderID, "leaderEpoch", d.LeaderEpoch,
			"replicas", list(d.Replicas), "isr", list(d.ISR), "elr", list(d.EligibleLeaderReplicas),
			"lastKnownLeader", list(d.LastKnownELR))
		if !asked {
			continue
		}
		for _, id := range d.Replicas {
			printReplica(p, d, id, all)
		}
	}
}

// list writes numbers with commas between.
func list(ids []int32) string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = fmt.Sprint(id)
	}
	return strings.Join(texts, ",")
}

// standing is what the metadata say of a replica.
func standing(d *partitionDescription, id int32) string {
	switch {
	case slices.Contains(d.ISR, id):
		return "isr"
	case slices.Contains(d.EligibleLeaderReplicas, id):
		return "elr"
	}
	return "none"
}
