package import Foundation
package import Switchyard
import SwitchyardBytes
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The records of resumable uploads on a device: a folder with one file for each, or memory.
///
/// Files are readable by their owner only, since a session is like a key, and are replaced atomically. A file that cannot be
/// read is set aside under another name. A running upload holds a lock across processes.
package final class UploadRecords: Sendable {
    /// The right to run an upload, until it is released or dropped.
    final class Claim: Sendable {
        private let end: Once
        fileprivate init(_ end: @escaping @Sendable () -> Void) { self.end = Once(end) }
        func release() { end.run() }
        deinit { end.run() }
    }

    private struct Memory {
        var records: [String: UploadRecord] = [:]
        var claimed: Set<String> = []
    }

    private let folder: URL?
    private let home: URL
    private let memory = Mutex(Memory())
    /// Whether uploads are recorded at all.
    package let isKept: Bool

    /// - Parameters:
    ///   - folder: Created when first needed; `nil` to record nothing.
    ///   - home: The user's folder, on some systems the app's. It may be another one after an update of the app.
    package init(folder: URL?, home: URL = SourcePlaces.home) {
        self.folder = folder
        self.home = home
        isKept = folder != nil
    }

    /// In memory, shared by all clients made with it.
    package init() {
        folder = nil
        home = SourcePlaces.home
        isKept = true
    }

    /// All readable records, oldest first.
    func all() -> [UploadRecord] {
        let records =
            if let folder {
                ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [])
                    .filter { $0.hasSuffix(Self.ending) }
                    .compactMap { read(String($0.dropLast(Self.ending.count)), in: folder) }
            } else {
                memory.withLock { Array($0.records.values) }
            }
        return records.sorted { ($0.begunAt, $0.id) < ($1.begunAt, $1.id) }
    }

    func record(_ id: String) -> UploadRecord? {
        guard Self.isName(id) else { return nil }
        guard let folder else { return memory.withLock { $0.records[id] } }
        return read(id, in: folder)
    }

    /// - Throws: `.localFile` if it cannot be written.
    func save(_ record: UploadRecord) throws(FileStorageError) {
        guard let folder else { return memory.withLock { $0.records[record.id] = record } }
        do {
            try Self.makeFolder(folder)
            var record = record
            record.places = SourcePlaces(of: record.source.path, home: home, records: folder)
            let bytes = try [UInt8](JSONEncoder().encode(record))
            try POSIXFile.replace(file(record.id, in: folder).path, with: bytes, outlastsPowerCut: false)
        } catch {
            throw FileStorageError(.localFile, "The upload could not be recorded for resuming.", underlying: error)
        }
    }

    func remove(_ id: String) {
        guard Self.isName(id) else { return }
        guard let folder else { return memory.withLock { _ = $0.records.removeValue(forKey: id) } }
        unlink(file(id, in: folder).path)
    }

    /// - Returns: `nil` while the upload is running elsewhere, in this process or another, and for an ID that no upload has.
    func claim(_ id: String) -> Claim? {
        // Callers may pass on any text, and the name of a file is made of it.
        guard Self.isName(id) else { return nil }
        guard let folder else {
            guard memory.withLock({ $0.claimed.insert(id).inserted }) else { return nil }
            return Claim { [weak self] in self?.memory.withLock { _ = $0.claimed.remove(id) } }
        }
        try? Self.makeFolder(folder)
        let path = folder.appendingPathComponent(id + ".lock").path
        guard let lock = try? FileLock(path, removesFile: true) else { return nil }
        return Claim { lock.release() }
    }

    // MARK: Files

    private static let ending = ".upload"

    private static func isName(_ id: String) -> Bool {
        !id.isEmpty && id.utf8.count <= 64 && id.utf8.allSatisfy { $0.isASCIIAlphanumeric || $0 == UInt8(ascii: "-") }
    }

    private func file(_ id: String, in folder: URL) -> URL { folder.appendingPathComponent(id + Self.ending) }

    private func read(_ id: String, in folder: URL) -> UploadRecord? {
        let file = file(id, in: folder)
        guard let data = try? Data(contentsOf: file) else { return nil }
        if var record = try? JSONDecoder().decode(UploadRecord.self, from: data), record.id == id {
            if let places = record.places {
                record.source = places.found(record.source, home: home, records: folder)
            }
            return record
        }
        rename(file.path, file.path + ".damaged")
        return nil
    }

    private static func makeFolder(_ folder: URL) throws {
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }
}

extension UInt8 {
    fileprivate var isASCIIAlphanumeric: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}

/// The record of an upload that can continue after the process has ended.
package struct UploadRecord: Sendable, Codable, Identifiable {
    package let id: String
    package let path: String
    package var source: SourceFile
    /// Where else the source may be; set when the record is saved.
    var places: SourcePlaces?
    package let begunAt: Int64
    package let session: UploadSession
    /// The offset that the server has confirmed.
    package var offset: Int64
    /// The checksum of the file's bytes before `offset`.
    package var crc32c: UInt32
    package let options: Options

    /// The part of ``UploadOptions`` that requests of a later process still need.
    package struct Options: Sendable, Codable {
        package let contentType: String?
        package let cacheControl: String?
        package let custom: [String: String]
        package let replacesExisting: Bool

        package init(_ options: UploadOptions) {
            contentType = options.contentType
            cacheControl = options.cacheControl
            custom = options.custom
            replacesExisting = options.replacesExisting
        }

        package var uploadOptions: UploadOptions {
            UploadOptions(
                contentType: contentType, cacheControl: cacheControl, custom: custom,
                replacesExisting: replacesExisting)
        }
    }

    package init(
        id: String, path: String, source: SourceFile, begunAt: Int64, session: UploadSession, offset: Int64,
        crc32c: UInt32, options: Options
    ) {
        self.id = id
        self.path = path
        self.source = source
        self.begunAt = begunAt
        self.session = session
        self.offset = offset
        self.crc32c = crc32c
        self.options = options
    }

    var interrupted: InterruptedUpload {
        InterruptedUpload(
            id: id, path: FilePath(unchecked: path), file: URL(fileURLWithPath: source.path), completedBytes: offset,
            totalBytes: source.identity.size)
    }
}
