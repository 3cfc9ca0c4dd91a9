module aeond.internal/client

go 1.19

// The versions of Debian 12, which the tests build with; newer ones are not tested.
require (
	google.golang.org/grpc v1.33.3
	google.golang.org/protobuf v1.28.1
)
