// Package wire turns frames into requests and responses into frames.
//
// A frame is what follows the four-byte length on a connection: a header (header.go) and a body.
// Decoding is the "prepare" stage of the design: a pure function of the frame and of immutable
// limits. It reports facts (record.Facts) and judges nothing but form.
//
// Produce and Fetch, the hot path, are read by hand as views into the frame and written by hand;
// the records of a Fetch response are not written at all, the encoder only says where they go.
// Every other key is read and written by kmsg. Before kmsg sees a frame a walker (prescan.go) has
// checked it against the schema, because kmsg would allocate for any number of elements that a
// frame announces.
//
// versions.go is the one place that lists keys and versions.
//
// Like Kafka (AbstractRequest.parseRequest of 4.4 reads a body and looks no further), the decoder
// ignores bytes behind the last field.
package wire
