package import Foundation
package import Switchyard
import SwitchyardBytes

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A local file that is being uploaded, and a check that it is unchanged.
package struct SourceFile: Sendable, Hashable, Codable {
    /// The attributes of an unchanged file.
    package struct Identity: Sendable, Hashable, Codable {
        package let size: Int64
        package let modifiedSeconds: Int64
        package let modifiedNanoseconds: Int64
    }

    package let path: String
    package let identity: Identity

    /// - Throws: `.localFile` if there is no readable regular file.
    package init(_ url: URL) throws(FileStorageError) {
        guard url.isFileURL else { throw FileStorageError(.localFile, "Only files on this device can be uploaded.") }
        path = url.path
        guard let identity = Self.identity(of: path), access(path, R_OK) == 0 else {
            throw FileStorageError(.localFile, "The file to upload is missing, or cannot be read.")
        }
        self.identity = identity
    }

    init(path: String, identity: Identity) {
        self.path = path
        self.identity = identity
    }

    /// - Throws: `.changed` if the file has changed, `.localFile` if it is not there.
    package func check() throws(FileStorageError) {
        guard let present = Self.identity(of: path) else {
            throw FileStorageError(
                .localFile,
                "The file to upload is missing: it was moved or deleted, or its disk is not there. Put it back and resume "
                    + "the upload.")
        }
        guard present == identity else {
            throw FileStorageError(.changed, "The file has changed since the upload began.")
        }
    }

    var isUnchanged: Bool { Self.identity(of: path) == identity }
    var isMissing: Bool { Self.identity(of: path) == nil }

    private static func identity(of path: String) -> Identity? {
        var info = stat()
        guard stat(path, &info) == 0, info.st_mode & S_IFMT == S_IFREG else { return nil }
        #if canImport(Darwin)
            let modified = info.st_mtimespec
        #else
            let modified = info.st_mtim
        #endif
        return Identity(
            size: Int64(info.st_size), modifiedSeconds: Int64(modified.tv_sec),
            modifiedNanoseconds: Int64(modified.tv_nsec))
    }

    /// Passes the bytes of a range to `take`, a piece at a time.
    func read(_ range: Range<Int64>, _ take: (UnsafeRawBufferPointer) -> Void) throws(FileStorageError) {
        try Self.read(path, range, take)
    }

    static func read(
        _ path: String, _ range: Range<Int64>, _ take: (UnsafeRawBufferPointer) -> Void
    ) throws(FileStorageError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileStorageError(.localFile, "The file to upload cannot be read.") }
        defer { close(descriptor) }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 * 1024, alignment: 16)
        defer { buffer.deallocate() }
        var position = range.lowerBound
        while position < range.upperBound {
            let wanted = Int(min(Int64(buffer.count), range.upperBound - position))
            let count = pread(descriptor, buffer.baseAddress, wanted, off_t(position))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw FileStorageError(.changed, "The file ended before the upload did.") }
            take(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            position += Int64(count)
        }
    }
}

/// The path of a file relative to folders that may move together with it: on iOS, an update of the app changes the path of
/// everything that the app keeps.
struct SourcePlaces: Sendable, Hashable, Codable {
    /// Below the home folder; `nil` for a file elsewhere.
    let fromHome: String?
    /// From the folder of the records, with `..` for each step up.
    let fromRecords: String

    /// The home folder: on iOS, the app's own.
    static var home: URL {
        #if canImport(Darwin)
            URL(fileURLWithPath: NSHomeDirectory(), isDirectory: true)
        #else
            // The same, without all of Foundation.
            URL(fileURLWithPath: ProcessInfo.processInfo.environment["HOME"] ?? "/", isDirectory: true)
        #endif
    }

    init(of path: String, home: URL, records: URL) {
        let path = Self.parts(path)
        let home = Self.parts(home.path)
        fromHome = path.starts(with: home) ? path.dropFirst(home.count).joined(separator: "/") : nil
        let records = Self.parts(records.path)
        let common = zip(path, records).prefix { $0 == $1 }.count
        let up = [String](repeating: "..", count: records.count - common)
        fromRecords = (up + path.dropFirst(common)).joined(separator: "/")
    }

    /// The same file where it is now: the first place that has it unchanged, otherwise the first that has any file.
    func found(_ source: SourceFile, home: URL, records: URL) -> SourceFile {
        let moved = [fromHome.map { home.appendingPathComponent($0) }, records.appendingPathComponent(fromRecords)]
        let places = [source.path] + moved.compactMap { $0?.standardizedFileURL.path }
        let files = places.map { SourceFile(path: $0, identity: source.identity) }
        return files.first { $0.isUnchanged } ?? files.first { !$0.isMissing } ?? source
    }

    private static func parts(_ path: String) -> [String] {
        URL(fileURLWithPath: path).standardizedFileURL.path.split(separator: "/").map { String($0) }
    }
}

/// The checksums that a server reports, if any.
package struct ContentChecksums: Sendable, Hashable {
    package var crc32c: UInt32?
    /// Sixteen bytes.
    package var md5: [UInt8]?

    package init(crc32c: UInt32? = nil, md5: [UInt8]? = nil) {
        self.crc32c = crc32c
        self.md5 = md5
    }

    /// Whether the checksums known on both sides agree.
    package func agree(with other: ContentChecksums) -> Bool {
        if let mine = crc32c, let theirs = other.crc32c, mine != theirs { return false }
        if let mine = md5, let theirs = other.md5, mine != theirs { return false }
        return true
    }
}

/// Computes checksums of passing bytes.
///
/// CRC32C costs little enough for every byte of a large file; MD5 is added if a server reports nothing else.
struct ContentDigest: Sendable {
    private var crc: CRC32C
    private var md5: MD5?
    /// The number of bytes so far.
    private(set) var count: Int64

    init(withMD5: Bool = false) {
        crc = CRC32C()
        md5 = withMD5 ? MD5() : nil
        count = 0
    }

    /// Continues after `count` bytes with the checksum `crc32c`.
    init(resuming crc32c: UInt32, after count: Int64) {
        crc = CRC32C(resuming: crc32c)
        md5 = nil
        self.count = count
    }

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        crc.update(bytes)
        md5?.update(bytes)
        count += Int64(bytes.count)
    }

    mutating func update(_ bytes: [UInt8]) { bytes.withUnsafeBytes { update($0) } }

    var checksums: ContentChecksums { ContentChecksums(crc32c: crc.value, md5: md5?.digest()) }
}
