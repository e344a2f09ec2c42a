// Package golden runs scripts: a readable form of a scenario, for any number of nodes, whose
// transcript is what a reader reviews.
//
// A script is a sequence of blocks, with empty lines between them: commands, a line of dashes, and
// what they caused. Lines that begin with # say why. Whatever happens while a command runs is told
// where it happens, so the answer to a command in the background may stand blocks further down.
//
//	# An acknowledged record survives a kill.
//	produce c1 orders-0 a b
//	kill n1
//	----
//	c1: orders-0 [0,2) acknowledged
//	n1: killed
//
// Commands name nodes n1, n2, ..., clients c1, c2, ... and idempotent producers p1, p2, ...; a
// topic and its partition are written orders-0. FILE is a name below the data directory, where
// the 20 digits of a segment may be written without their zeros: orders-0/0.log.
//
//	nodes N [NAME=VALUE...]     machines n1 to nN; Kafka's names of topic settings, and those of
//	                            checkpoint.interval, fetch.sessions, index.write.entries
//	start N...                  runs until each node answers clients or has given up
//	stop N                      a clean stop
//	kill N                      kill -9
//	power N keep=nothing|all|BYTES   power loss; of each unsynced file, and of no name, nothing is
//	                            kept, all, or its size and its sectors before BYTES
//	pause N DURATION            SIGSTOP, and SIGCONT later
//	clock N DURATION            steps the wall clock, forward or back
//	advance DURATION            time passes
//	cut A B, cut A>B            nothing passes between two nodes or a client and a node, or one way
//	heal A B, heal all          the end of that
//
//	controllers N [session.timeout=D]   machines that are the controllers of one cluster
//	brokers N [NAME=VALUE...]   machines that are brokers of theirs, also if they are added before;
//	                            settings as for nodes, and heartbeat.interval: a broker waits for
//	                            its controller twice as long
//	wipe N                      an empty disk takes the place of that of a node that does not run
//	await N leads               runs until the controller is elected
//	star N N...                 of all links between controllers, only those of the first with the
//	                            others pass: whoever is elected is the first
//	lose N N|all KIND           raft's messages of this kind (MsgApp, MsgPreVote, ...) from one
//	     [term=T]               controller to another do not arrive; with a term, the messages arrive,
//	                            and its entries in them do not
//	hold N N AlterPartition     what a broker asks of a controller about ISRs does not arrive yet
//	pass                        no message is lost any more, and what was held arrives
//	raft N...                   term, leader and log of controllers: entries as TERM:WHAT, and a bar
//	                            behind what they know to be committed
//	members N                   who is a voter, as a controller has applied it; the voter of a node
//	                            that got a new disk has a prime: n3'
//	replicas TOPIC-P            what the active controller says of a partition, and each replica:
//	                            its role, and its records as EPOCH:VALUE, with a bar behind what
//	                            it knows to be committed
//
//	fault N CALL ORDINAL of FILE WHAT[:BYTES]   the ORDINAL-th CALL ("next": the next, "every":
//	                            each) goes wrong; CALL and WHAT as in sim.DiskOpKind, with _ for a
//	                            space, and sim.DiskFaultKind: eio, short_write, disk_full, ...
//	flip N FILE byte=N bit=N    decay of the medium
//	capacity N BYTES            of the disk; +BYTES above what it holds, 0 for no limit
//
//	dial C N [timeout=DURATION]     a client of a node, of its broker if it has one; a broken
//	                                connection is dialled again
//	create C TOPIC [partitions=N | replicas=N,N...] [SETTING=VALUE...]
//	delete C TOPIC
//	topic C TOPIC               asks for metadata anew, and learns the topic's id
//	producer P C                takes a producer id
//	produce C TOPIC-P VALUE[@TIME]... [acks=all|1|0] [producer=P seq=N] [size=BYTES]
//	fetch C TOPIC-P@OFFSET... [wait=D] [min=BYTES] [max=BYTES] [session=new|next|again|close]
//	      [forget=TOPIC-P] [isolation=committed] [epoch=N]
//	list C TOPIC-P earliest|latest|max|@TIME
//
//	status N                    the process and its replicas
//	log N TOPIC-P [medium]      the batches in the files, as processes or as the medium see them
//	index N TOPIC-P             the entries of the indexes
//	files N DIRECTORY|FILE      sizes, and what of them is durable
//
// A command of a client goes on in the background with & at its end. TIME is a duration since the
// beginning of the world. Delays are fixed, so that a transcript says nothing of dice: it is the
// same for every seed.
package golden
