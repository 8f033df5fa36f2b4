// swift-format-ignore-file
// Declarations of Apple's C library where they differ from the one that the type check runs on.

public import Dispatch
@_exported import Glibc

public let F_FULLFSYNC: Int32 = 51
public let SO_NOSIGPIPE: Int32 = 0x1022
public let SOCK_STREAM: Int32 = 1
public let SOCK_DGRAM: Int32 = 2
public let IPPROTO_TCP: Int32 = 6
public let SHUT_WR: Int32 = 1
public let RUSAGE_SELF: Int32 = 0

public typealias pthread_t = OpaquePointer

public func pthread_create(
    _ thread: UnsafeMutablePointer<pthread_t?>?, _ attributes: UnsafePointer<pthread_attr_t>?,
    _ body: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer?, _ argument: UnsafeMutableRawPointer?
) -> Int32 { 0 }
public func pthread_detach(_ thread: pthread_t) -> Int32 { 0 }
public func pthread_join(_ thread: pthread_t, _ result: UnsafeMutablePointer<UnsafeMutableRawPointer?>?) -> Int32 { 0 }

public typealias posix_spawn_file_actions_t = UnsafeMutableRawPointer
public typealias posix_spawnattr_t = UnsafeMutableRawPointer
public let POSIX_SPAWN_CLOEXEC_DEFAULT: Int32 = 0x4000

@discardableResult
public func posix_spawn_file_actions_init(_ actions: UnsafeMutablePointer<posix_spawn_file_actions_t?>) -> Int32 { 0 }
@discardableResult
public func posix_spawn_file_actions_destroy(_ actions: UnsafeMutablePointer<posix_spawn_file_actions_t?>) -> Int32 { 0 }
@discardableResult
public func posix_spawn_file_actions_adddup2(
    _ actions: UnsafeMutablePointer<posix_spawn_file_actions_t?>, _ file: Int32, _ new: Int32
) -> Int32 { 0 }
@discardableResult
public func posix_spawn_file_actions_addopen(
    _ actions: UnsafeMutablePointer<posix_spawn_file_actions_t?>, _ file: Int32, _ path: UnsafePointer<CChar>,
    _ flags: Int32, _ mode: UInt16
) -> Int32 { 0 }
@discardableResult
public func posix_spawn_file_actions_addinherit_np(
    _ actions: UnsafeMutablePointer<posix_spawn_file_actions_t?>, _ file: Int32
) -> Int32 { 0 }
@discardableResult
public func posix_spawnattr_init(_ attributes: UnsafeMutablePointer<posix_spawnattr_t?>) -> Int32 { 0 }
@discardableResult
public func posix_spawnattr_destroy(_ attributes: UnsafeMutablePointer<posix_spawnattr_t?>) -> Int32 { 0 }
@discardableResult
public func posix_spawnattr_setsigmask(
    _ attributes: UnsafeMutablePointer<posix_spawnattr_t?>, _ signals: UnsafePointer<sigset_t>
) -> Int32 { 0 }
@discardableResult
public func posix_spawnattr_setsigdefault(
    _ attributes: UnsafeMutablePointer<posix_spawnattr_t?>, _ signals: UnsafePointer<sigset_t>
) -> Int32 { 0 }
@discardableResult
public func posix_spawnattr_setpgroup(_ attributes: UnsafeMutablePointer<posix_spawnattr_t?>, _ group: pid_t) -> Int32 { 0 }
@discardableResult
public func posix_spawnattr_setflags(_ attributes: UnsafeMutablePointer<posix_spawnattr_t?>, _ flags: Int16) -> Int32 { 0 }
public func posix_spawn(
    _ process: UnsafeMutablePointer<pid_t>?, _ path: UnsafePointer<CChar>?,
    _ actions: UnsafePointer<posix_spawn_file_actions_t?>?, _ attributes: UnsafePointer<posix_spawnattr_t?>?,
    _ arguments: UnsafePointer<UnsafeMutablePointer<CChar>?>?, _ environment: UnsafePointer<UnsafeMutablePointer<CChar>?>?
) -> Int32 { 0 }

extension stat {
    public var st_mtimespec: timespec { st_mtim }
    public var st_ctimespec: timespec { st_ctim }
}

extension sockaddr_in {
    public var sin_len: UInt8 {
        get { 0 }
        set {}
    }
}

extension sockaddr_in6 {
    public var sin6_len: UInt8 {
        get { 0 }
        set {}
    }
}

public let O_EVTONLY: Int32 = 0x8000

extension DispatchSource {
    public static func makeFileSystemObjectSource(
        fileDescriptor: Int32, eventMask: FileSystemEvent, queue: DispatchQueue? = nil
    ) -> any DispatchSourceRead { makeReadSource(fileDescriptor: fileDescriptor, queue: queue) }
}
