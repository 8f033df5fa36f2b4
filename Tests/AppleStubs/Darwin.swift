// Declarations of Apple's C library where they differ from the one that the type check runs on.

@_exported import Glibc

public let F_FULLFSYNC: Int32 = 51
public let SO_NOSIGPIPE: Int32 = 0x1022
