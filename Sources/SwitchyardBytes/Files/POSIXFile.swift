#if canImport(Glibc)
    package import Glibc
#elseif canImport(Musl)
    package import Musl
#elseif canImport(Darwin)
    package import Darwin
#endif

/// The few calls by which a small file is read and replaced, where their names hide behind those of methods.
package enum POSIXFile {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
        package init(_ text: String) { description = text }
        init(_ what: String, _ code: Int32) { description = "\(what) failed with error \(code)" }
    }

    /// More than any session needs; whatever is larger is something else.
    private static let limit = 1 << 20

    /// - Returns: `nil` if there is no such file.
    package static func read(_ path: String) throws(Failure) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw Failure("reading it", errno)
        }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = chunk.withUnsafeMutableBytes { buffer in readSome(descriptor, buffer) }
            if count < 0 {
                if errno == EINTR { continue }
                throw Failure("reading it", errno)
            }
            if count == 0 { return bytes }
            bytes += chunk[..<count]
            guard bytes.count <= limit else { throw Failure("it is too large") }
        }
    }

    /// Writes a new file beside the old one, for its owner only, and puts it in its place: readers see the one or the other.
    ///
    /// - Parameter outlastsPowerCut: Whether one must be there after a power cut too, for which the disk is waited for.
    /// - Returns: What the system says about the new file.
    @discardableResult
    package static func replace(
        _ path: String, with bytes: [UInt8], outlastsPowerCut: Bool = true
    ) throws(Failure) -> stat {
        let draft = "\(path).\(RandomID.make(length: 8)).new"
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Failure("writing it", errno) }
        var info = stat()
        var failure: Failure?
        if write(bytes, to: descriptor) != nil || (outlastsPowerCut && !flush(descriptor))
            || fstat(descriptor, &info) != 0
        {
            failure = Failure("writing it", errno)
        }
        close(descriptor)
        if failure == nil, rename(draft, path) != 0 { failure = Failure("replacing it", errno) }
        if let failure {
            unlink(draft)
            throw failure
        }
        if outlastsPowerCut { syncFolder(of: path) }
        return info
    }

    /// Renames a file so that nothing is lost.
    ///
    /// - Returns: Its new name, without the folder.
    package static func setAside(_ path: String, as suffix: String) throws(Failure) -> String {
        var number = 1
        while access("\(path).\(suffix)-\(number)", F_OK) == 0 { number += 1 }
        let place = "\(path).\(suffix)-\(number)"
        guard rename(path, place) == 0 || errno == ENOENT else { throw Failure("renaming it", errno) }
        return String(place.split(separator: "/").last ?? "")
    }

    #if canImport(Glibc)
        private static func readSome(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
            Glibc.read(descriptor, buffer.baseAddress, buffer.count)
        }
        private static func writeSome(_ descriptor: Int32, _ buffer: UnsafeRawBufferPointer) -> Int {
            Glibc.write(descriptor, buffer.baseAddress, buffer.count)
        }
    #elseif canImport(Musl)
        private static func readSome(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
            Musl.read(descriptor, buffer.baseAddress, buffer.count)
        }
        private static func writeSome(_ descriptor: Int32, _ buffer: UnsafeRawBufferPointer) -> Int {
            Musl.write(descriptor, buffer.baseAddress, buffer.count)
        }
    #else
        private static func readSome(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
            Darwin.read(descriptor, buffer.baseAddress, buffer.count)
        }
        private static func writeSome(_ descriptor: Int32, _ buffer: UnsafeRawBufferPointer) -> Int {
            Darwin.write(descriptor, buffer.baseAddress, buffer.count)
        }
    #endif

    /// - Returns: The system's error, if there was one.
    package static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32? {
        bytes.withUnsafeBytes { buffer in
            var rest = buffer[...]
            while !rest.isEmpty {
                let count = writeSome(descriptor, UnsafeRawBufferPointer(rebasing: rest))
                if count < 0 {
                    if errno == EINTR { continue }
                    return errno
                }
                rest = rest.dropFirst(count)
            }
            return nil
        }
    }

    /// Makes the new name outlast a power cut, where the file system can.
    package static func syncFolder(of path: String) {
        let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        let descriptor = open(folder.isEmpty ? "/" : folder, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        _ = flush(descriptor)
        close(descriptor)
    }

    /// Has the disk itself keep what was written; on Darwin a plain synchronisation ends before that.
    package static func flush(_ descriptor: Int32) -> Bool {
        #if canImport(Darwin)
            // Some file systems know the plain one only.
            if fcntl(descriptor, F_FULLFSYNC) == 0 { return true }
        #endif
        return fsync(descriptor) == 0
    }
}
