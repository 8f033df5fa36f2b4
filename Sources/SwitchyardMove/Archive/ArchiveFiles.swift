import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardProviderKit

/// The files of an archive: `files/AB/ABCD….json` describes a file, and `files/AB/ABCD…` has its contents.
///
/// The names are hashes of the paths: in file storage, `a` and `a/b` can both be files, and names can be longer than a file
/// system allows.
struct ArchiveFiles: MoveFiles {
    let folder: URL
    private static let chunk = 256 << 10

    func forEachPage(_ body: ([FileMetadata]) async throws -> Void) async throws {
        for part in try Self.names(in: folder) {
            let part = folder.appendingPathComponent(part, isDirectory: true)
            let names = try Self.names(in: part).filter { $0.hasSuffix(".json") }
            for start in stride(from: 0, to: names.count, by: 200) {
                try await body(
                    names[start...].prefix(200).map { try Self.description(part.appendingPathComponent($0)) })
            }
        }
    }

    private static func names(in folder: URL) throws(MoveError) -> [String] {
        guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
        do {
            return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        } catch {
            throw .archive(folder.path, "it cannot be listed.")
        }
    }

    private static func description(_ file: URL) throws(MoveError) -> FileMetadata {
        let bytes = try LineFolder.contents(file)
        let line = ArchiveLine(bytes: Array(bytes), file: file.lastPathComponent, offset: 0)
        return try line.read { try JSONBytesDecoder().decode(ArchivedFile.self, from: $0).metadata() }
    }

    /// Where the contents of the file at `path` are.
    private func place(_ path: FilePath) -> (folder: URL, name: String) {
        let name = Hex.encode(Array(SHA256.digest(of: Array(path.rawValue.utf8)).prefix(16)))
        return (folder.appendingPathComponent(String(name.prefix(2)), isDirectory: true), name)
    }

    func contents(of path: FilePath) -> FileContents {
        let (folder, name) = place(path)
        return MappedChunks(file: folder.appendingPathComponent(name), size: Self.chunk)
    }

    func write(
        _ file: FileMetadata, _ contents: @escaping @Sendable () -> FileContents
    ) async throws -> FileMetadata {
        let (folder, name) = place(file.path)
        do throws(SystemFailure) { try POSIXFile.makeFolder(folder.path) } catch {
            throw MoveError.archive(folder.path, "it cannot be created: \(error).")
        }
        var written = file
        (written.size, written.md5) = try await Self.save(contents(), as: folder.appendingPathComponent(name).path)
        let line = try JSONBytesEncoder().encode(ArchivedFile(written))
        try LineFolder.write(line + [UInt8(ascii: "\n")], to: folder, name + ".json")
        return written
    }

    /// Writes beside the file and moves into place.
    private static func save(_ contents: FileContents, as path: String) async throws -> (size: Int64, md5: String) {
        let draft = path + ".new"
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw MoveError.archive(path, "\(SystemFailure(errno)).") }
        defer { close(descriptor) }
        var (hash, size) = (MD5(), Int64(0))
        for try await chunk in contents {
            if let code = POSIXFile.write(Array(chunk), to: descriptor) {
                unlink(draft)
                throw MoveError.archive(path, "\(SystemFailure(code)). Make room, or choose another folder.")
            }
            hash.update(chunk)
            size += Int64(chunk.count)
        }
        guard POSIXFile.flush(descriptor), rename(draft, path) == 0 else {
            throw MoveError.archive(path, "\(SystemFailure(errno)).")
        }
        return (size, Hex.encode(hash.digest()))
    }

    func metadata(of path: FilePath) async throws -> FileMetadata? {
        let (folder, name) = place(path)
        let file = folder.appendingPathComponent(name + ".json")
        return FileManager.default.fileExists(atPath: file.path) ? try Self.description(file) : nil
    }
}

/// What is known about a file, as it is written.
struct ArchivedFile: Codable {
    var path: String
    var size: Int64
    var contentType: String
    var md5: String?
    var cacheControl: String?
    var custom: [String: String]?
    var created: Timestamp?
    var updated: Timestamp?

    init(_ file: FileMetadata) {
        path = file.path.rawValue
        size = file.size
        contentType = file.contentType
        md5 = file.md5
        cacheControl = file.cacheControl
        custom = file.custom.isEmpty ? nil : file.custom
        created = file.createdAt
        updated = file.updatedAt
    }

    func metadata() throws(FileStorageError) -> FileMetadata {
        FileMetadata(
            path: try FilePath(validating: path), size: size, contentType: contentType, createdAt: created,
            updatedAt: updated, md5: md5, cacheControl: cacheControl, custom: custom ?? [:])
    }
}

/// A file on this machine, piece by piece.
private struct MappedChunks: AsyncSequence, Sendable {
    typealias Element = Data
    typealias Failure = any Error
    let file: URL
    let size: Int

    func makeAsyncIterator() -> Iterator { Iterator(file: file, size: size) }

    struct Iterator: AsyncIteratorProtocol {
        let file: URL
        let size: Int
        private var rest: Data?

        init(file: URL, size: Int) {
            self.file = file
            self.size = size
        }

        mutating func next() async throws -> Data? {
            let left = try rest ?? LineFolder.contents(file)
            let chunk = left.prefix(size)
            rest = left.dropFirst(chunk.count)
            return chunk.isEmpty ? nil : Data(chunk)
        }
    }
}
