package metadata

import (
	"math"

	"stet/core/kafka"
)

// AllocateProducerIDs gives the next block of producer ids to a broker. No id is given twice.
func AllocateProducerIDs(image *Image, broker kafka.BrokerID, epoch kafka.BrokerEpoch) (
	records []Record, block ProducerIDBlock, code kafka.ErrorCode,
) {
	if code := CheckBroker(image, broker, epoch); code != kafka.None {
		return nil, block, code
	}
	first := image.NextProducerID()
	if first > math.MaxInt64-ProducerIDBlockSize {
		return nil, block, kafka.UnknownServerError
	}
	block = ProducerIDBlock{first, ProducerIDBlockSize}
	return []Record{&ProducerIDsRecord{first + ProducerIDBlockSize, broker, epoch}}, block, kafka.None
}
