package metadata

import "stet/core/kafka"

// TopicRef names a topic to delete: by name, or by id if Name is nil.
type TopicRef struct {
	Name *string
	ID   kafka.TopicID
}

// DeletedTopic is the outcome for one topic. Name and ID are what is known of it.
type DeletedTopic struct {
	Name    *string
	ID      kafka.TopicID
	Error   kafka.ErrorCode
	Message string
}

// DeleteTopics decides on one DeleteTopics request. Outcomes are in the order of the request; of a
// topic that is named twice, also once by name and once by id, every mention is refused.
func DeleteTopics(image *Image, refs []TopicRef) ([]Record, []DeletedTopic) {
	topics := make([]*Topic, len(refs))
	mentions := map[*Topic]int{}
	for i := range refs {
		if topics[i] = resolve(image, &refs[i]); topics[i] != nil {
			mentions[topics[i]]++
		}
	}
	var records []Record
	outcomes := make([]DeletedTopic, len(refs))
	for i := range refs {
		out := &outcomes[i]
		out.Name, out.ID = refs[i].Name, refs[i].ID
		r := judgeDeletion(&refs[i], topics[i], mentions)
		if out.Error, out.Message = r.code, r.text; r.refused() {
			continue
		}
		out.Name, out.ID = &topics[i].Name, topics[i].ID
		records = append(records, &TopicRemovalRecord{topics[i].ID})
	}
	return records, outcomes
}

// resolve finds the topic that is meant; nil if there is none or the reference is malformed.
func resolve(image *Image, ref *TopicRef) *Topic {
	byID := ref.ID != kafka.TopicID{}
	switch {
	case ref.Name != nil && !byID:
		return image.Topic(*ref.Name)
	case ref.Name == nil && byID:
		return image.TopicByID(ref.ID)
	}
	return nil
}

func judgeDeletion(ref *TopicRef, topic *Topic, mentions map[*Topic]int) refusal {
	byID := ref.ID != kafka.TopicID{}
	switch {
	case ref.Name != nil && byID:
		return refuse(kafka.InvalidRequest, "a topic is named by name and by id at once")
	case ref.Name == nil && !byID:
		return refuse(kafka.InvalidRequest, "neither the name nor the id of a topic is given")
	case topic == nil && byID:
		return refuse(kafka.UnknownTopicID, "there is no topic with id %s", ref.ID)
	case topic == nil:
		return refuse(kafka.UnknownTopicOrPartition, "there is no topic %q", *ref.Name)
	case mentions[topic] > 1:
		return refuse(kafka.InvalidRequest, "the request names topic %q twice", topic.Name)
	}
	return refusal{}
}
