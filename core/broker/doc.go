// Package broker is the loop of a node in its broker role: it answers clients, hosts the replicas
// of this node, and is a client of the controller's loop.
//
// It is a function of what it has been told: Turn consumes events and emits effects, and does
// nothing else. Clients arrive as EventRequest. The controller is reached over a link, a
// connection that this loop opens and reopens; requests leave as env.ConnSend and come
// back as EventResponse. Long work (start, recovery, look-ups, checkpoints) runs as jobs.
//
// There is one file for each API key, a table that routes to them (route.go), and one type for
// each duty: starter, controllerLink, metadataFollower, host, sessionCache, waits, shutdown.
package broker
