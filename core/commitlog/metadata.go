package commitlog

import (
	"fmt"
	"strconv"
	"strings"

	"stet/core/kafka"
)

// PartitionMetadataName is the file that binds a replica's directory to a topic id.
const PartitionMetadataName = "partition.metadata"

// AppendPartitionMetadata encodes a partition.metadata file. It has no final newline.
func AppendPartitionMetadata(dst []byte, id kafka.TopicID) []byte {
	return fmt.Appendf(dst, "version: 0\ntopic_id: %s", id)
}

// DecodePartitionMetadata decodes a partition.metadata file.
func DecodePartitionMetadata(b []byte) (kafka.TopicID, error) {
	version, rest, _ := strings.Cut(strings.TrimRight(string(b), "\n"), "\n")
	if version != "version: 0" {
		return kafka.TopicID{}, fmt.Errorf("want version 0, have %q", version)
	}
	text, ok := strings.CutPrefix(rest, "topic_id: ")
	if !ok {
		return kafka.TopicID{}, fmt.Errorf("want a topic id, have %q", rest)
	}
	return kafka.ParseTopicID(text)
}

// MetaPropertiesName is the file at a data directory's root that says whose it is.
const MetaPropertiesName = "meta.properties"

// MetaProperties is the content of meta.properties.
type MetaProperties struct {
	ClusterID   string // empty until the directory is marked as a cluster's
	NodeID      kafka.BrokerID
	DirectoryID string // 22 characters of base64url
}

// AppendMetaProperties encodes a meta.properties file.
func AppendMetaProperties(dst []byte, m MetaProperties) []byte {
	dst = fmt.Appendf(dst, "node.id=%d\ndirectory.id=%s\nversion=1\n", m.NodeID, m.DirectoryID)
	if m.ClusterID == "" {
		return dst
	}
	return fmt.Appendf(dst, "cluster.id=%s\n", m.ClusterID)
}

// DecodeMetaProperties decodes a meta.properties file, a Java properties file: comments and
// unknown keys are passed over, and backslash escapes of single characters undone.
func DecodeMetaProperties(b []byte) (MetaProperties, error) {
	m := MetaProperties{NodeID: kafka.NoBroker}
	version := ""
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == '!' {
			continue
		}
		key, value, _ := strings.Cut(strings.ReplaceAll(line, `\`, ""), "=")
		switch key, value = strings.TrimSpace(key), strings.TrimSpace(value); key {
		case "version":
			version = value
		case "cluster.id":
			m.ClusterID = value
		case "directory.id":
			m.DirectoryID = value
		case "node.id":
			id, err := strconv.ParseInt(value, 10, 32)
			if err != nil || id < 0 {
				return m, fmt.Errorf("node.id %q: want an integer from 0", value)
			}
			m.NodeID = kafka.BrokerID(id)
		}
	}
	switch {
	case version != "1":
		return m, fmt.Errorf("version %q: want 1", version)
	case m.NodeID == kafka.NoBroker:
		return m, fmt.Errorf("no node.id")
	}
	return m, nil
}
