// Package netio is the production network: TCP connections that carry frames in, and frames and
// ranges of files out. It knows no protocol but the 4-byte length in front of a frame, and decides
// nothing: what comes in goes to an env.ConnReader, which answers with a Verdict.
//
// A connection costs one goroutine. While nothing arrives it holds no buffer: it waits for
// readability, borrows 4 KB to find the next length in, and reads the rest of a frame where
// Reserve says. The kernel tells with each read whether more is there (TCP_INQ), so that a small
// request costs one read.
//
// A frame that does not fit into those 4 KB costs two, because Reserve gives memory only for a size
// that is known. A larger borrowed buffer would save the second read and cost a copy of the frame
// instead. Reading into a buffer of the last frame's size was tried: it saves 0.8 of 14.6 us for
// 64 KB (client and server, loopback), but only while frames repeat their size to the byte, which
// compressed batches do not; a wrong guess costs a copy, and every guess takes budget for a frame
// that nobody has announced.
//
// Ranges of files that have a descriptor go out by sendfile, without entering user space. Bytes
// that sendfile has queued stay mutable until the peer has them, so a range must not be edited or
// truncated; small ranges and files without a descriptor are copied.
package netio
