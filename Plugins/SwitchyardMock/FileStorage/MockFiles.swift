public import Foundation
public import Switchyard
import SwitchyardBytes
import Synchronization

/// The files on a project's server.
public final class MockFiles: Sendable {
    struct Stored: Sendable {
        var metadata: FileMetadata
        var contents: Data
    }

    /// An upload in progress.
    struct Upload: Sendable {
        let path: FilePath
        let options: UploadOptions
        var contents = Data()
        /// The lengths of the parts received.
        var parts: [Int] = []
    }

    struct Address: Sendable {
        let path: FilePath
        let expiresAt: Timestamp?
    }

    struct State: Sendable {
        var files: [FilePath: Stored] = [:]
        var uploads: [String: Upload] = [:]
        var addresses: [String: Address] = [:]
        var version = 0
    }

    private let state = Mutex(State())
    let now: @Sendable () -> Timestamp
    let changed = Mutex<(@Sendable () -> Void)?>(nil)

    init(now: @escaping @Sendable () -> Timestamp) { self.now = now }

    /// The paths of all files, sorted.
    public var paths: [FilePath] { state.withLock { $0.files.keys.sorted() } }

    /// The contents that anyone gets from an address, or `nil` once it has expired or the file is gone.
    public func contents(of address: URL) -> Data? {
        guard let token = URLQuery(address)["token"] else { return nil }
        let now = now()
        return state.withLock { state in
            guard let known = state.addresses[token], known.expiresAt.map({ now < $0 }) ?? true else { return nil }
            return state.files[known.path]?.contents
        }
    }

    /// Forgets unfinished uploads, as servers do after some days.
    public func forgetUploads() { change { $0.uploads = [:] } }

    func read<Result: Sendable>(_ body: (State) -> Result) -> Result { state.withLock { body($0) } }

    @discardableResult
    func change<Result: Sendable, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let result = try state.withLock { (state) throws(Failure) -> Result in
            state.version += 1
            return try body(&state)
        }
        changed.withLock { $0 }?()
        return result
    }

    // MARK: Uploads

    func beginUpload(to path: FilePath, _ options: UploadOptions) throws(FileStorageError) -> String {
        try change { (state) throws(FileStorageError) in
            if !options.replacesExisting, state.files[path] != nil { throw .exists }
            let id = RandomID.make()
            state.uploads[id] = Upload(path: path, options: options)
            return id
        }
    }

    /// - Returns: The number of bytes that the server has now; `nil`, without accepting anything, if the part does not follow
    ///   them.
    func append(_ part: Data, at offset: Int64, to id: String) throws(FileStorageError) -> Int64? {
        try change { (state) throws(FileStorageError) in
            guard let upload = state.uploads[id] else { throw .uploadForgotten }
            guard Int64(upload.contents.count) == offset else { return nil }
            state.uploads[id]?.contents.append(part)
            state.uploads[id]?.parts.append(part.count)
            return Int64(state.uploads[id]?.contents.count ?? 0)
        }
    }

    func finishUpload(_ id: String) throws(FileStorageError) -> FileMetadata {
        let now = now()
        return try change { (state) throws(FileStorageError) in
            guard let upload = state.uploads[id] else { throw .uploadForgotten }
            let old = state.files[upload.path]
            if !upload.options.replacesExisting, old != nil { throw .exists }
            state.uploads[id] = nil
            let metadata = FileMetadata(
                path: upload.path, size: Int64(upload.contents.count),
                contentType: upload.options.contentType ?? upload.path.contentType,
                createdAt: old?.metadata.createdAt ?? now, updatedAt: now, version: RandomID.make(length: 12),
                md5: Hex.encode(MD5.digest(of: upload.contents)),
                cacheControl: upload.options.cacheControl, custom: upload.options.custom)
            state.files[upload.path] = Stored(metadata: metadata, contents: upload.contents)
            return metadata
        }
    }

    /// Stores a file in one step.
    func store(_ contents: Data, at path: FilePath, _ options: UploadOptions) throws(FileStorageError) -> FileMetadata {
        let id = try beginUpload(to: path, options)
        _ = try append(contents, at: 0, to: id)
        return try finishUpload(id)
    }

    func abandonUpload(_ id: String) { change { $0.uploads[id] = nil } }

    // MARK: Files

    func stored(_ path: FilePath) throws(FileStorageError) -> Stored {
        guard let stored = read({ $0.files[path] }) else { throw .missing }
        return stored
    }

    func update(_ path: FilePath, _ changes: FileMetadataChanges) throws(FileStorageError) -> FileMetadata {
        let now = now()
        return try change { (state) throws(FileStorageError) in
            guard var metadata = state.files[path]?.metadata else { throw .missing }
            if let type = changes.contentType { metadata.contentType = type }
            if let control = changes.cacheControl { metadata.cacheControl = control }
            for (name, value) in changes.custom { metadata.custom[name] = value }
            metadata.updatedAt = now
            state.files[path]?.metadata = metadata
            return metadata
        }
    }

    func copy(
        _ source: FilePath, to destination: FilePath, removesSource: Bool
    ) throws(FileStorageError) -> FileMetadata {
        let now = now()
        return try change { (state) throws(FileStorageError) in
            guard let stored = state.files[source] else { throw .missing }
            let old = stored.metadata
            let metadata = FileMetadata(
                path: destination, size: old.size, contentType: old.contentType,
                createdAt: state.files[destination]?.metadata.createdAt ?? now, updatedAt: now,
                version: RandomID.make(length: 12), md5: old.md5, cacheControl: old.cacheControl, custom: old.custom)
            if removesSource { state.files[source] = nil }
            state.files[destination] = Stored(metadata: metadata, contents: stored.contents)
            return metadata
        }
    }

    func delete(_ path: FilePath) throws(FileStorageError) {
        try change { (state) throws(FileStorageError) in
            guard state.files.removeValue(forKey: path) != nil else { throw .missing }
        }
    }

    func address(of path: FilePath, expiresIn: Duration?) throws(FileStorageError) -> URL {
        let now = now()
        return try change { (state) throws(FileStorageError) in
            guard state.files[path] != nil else { throw .missing }
            let token = RandomID.make(length: 32)
            let end = expiresIn.map { Timestamp(microseconds: now.microseconds + $0.microseconds) }
            let text = "https://files.mock.invalid/\(PercentCoding.encode(path.rawValue, as: .path))?token=\(token)"
            guard let url = URL(string: text) else {
                throw FileStorageError(.invalidArgument, "The path cannot be written as a URL.")
            }
            state.addresses[token] = Address(path: path, expiresAt: end)
            return url
        }
    }

    /// One page of the entries directly in `folder`.
    func list(_ folder: FilePath?, pageSize: Int, page: String?) -> FileList {
        let prefix = folder.map { $0.rawValue + "/" } ?? ""
        let files = read { $0.files.mapValues(\.metadata) }
        var entries: Set<FilePath> = []
        for path in files.keys where path.rawValue.utf8.starts(with: prefix.utf8) {
            let rest = path.rawValue.utf8.dropFirst(prefix.utf8.count)
            let name = rest.prefix { $0 != UInt8(ascii: "/") }
            // A folder is distinguished by its slash from a file of the same name.
            entries.insert(FilePath(unchecked: prefix + String(Substring(name)) + (name.count < rest.count ? "/" : "")))
        }
        let after = page.map { FilePath(unchecked: $0) }
        let rest = entries.sorted().drop { entry in after.map { entry <= $0 } ?? false }
        let shown = rest.prefix(pageSize)
        return FileList(
            files: shown.compactMap { files[$0] },
            folders: shown.filter { $0.rawValue.hasSuffix("/") }
                .map { FilePath(unchecked: String($0.rawValue.dropLast())) },
            nextPage: shown.count < rest.count ? shown.last?.rawValue : nil)
    }
}

extension FileStorageError {
    static let missing = FileStorageError(.notFound, "There is no such file.")
    static let exists = FileStorageError(.alreadyExists, "A file already exists at this path.")
    static let uploadForgotten = FileStorageError(
        .uploadExpired, "The server no longer knows the upload. Start it again.")
}
