public import Foundation
public import Switchyard
import SwitchyardBytes
import SwitchyardProviderKit
import SwitchyardWire

/// Files in buckets of Supabase, protected by the policies on their objects. The configuration maps folders to buckets.
///
/// Contents up to 6 MiB are sent in one request. Larger uploads are sent in parts of that size, can be paused, and can continue
/// after the process has ended if there is a state folder. The server returns no checksums, so uploads are verified by size.
///
/// File names may contain ASCII letters, digits and a few other characters; others are refused before anything is sent.
/// Changing metadata copies the file onto itself on the server. Only public buckets have permanent addresses.
public final class SupabaseFileStorageAdapter: FileStorageClient {
    public let provider: InfrastructureProvider = .supabase
    public let capabilities: FileStorageCapabilities

    private let service: SupabaseFileService
    private let manager: TransferManager
    private let sharesTransport: Bool

    /// - Parameters:
    ///   - folder: Where resumable uploads are recorded; `nil` to record none.
    ///   - session: Its users may have their local data wiped.
    ///   - sharesTransport: Whether others use the transport, too, so that it must not be shut down with this client.
    init(
        _ service: SupabaseFileService, folder: URL?, session: SessionFeed? = nil, sharesTransport: Bool = false
    ) {
        self.service = service
        self.sharesTransport = sharesTransport
        manager = TransferManager(
            SupabaseUploadDriver.policy, records: UploadRecords(folder: folder), tries: service.persistently,
            now: service.now, following: session)
        var capabilities = FileStorageCapabilities()
        capabilities.resumableUploads = folder != nil
        capabilities.ranges = true
        capabilities.customMetadata = true
        capabilities.copyAndMove = true
        capabilities.expiringURLs = true
        capabilities.permanentURLs = service.buckets.hasPublic
        self.capabilities = capabilities
    }

    convenience init(_ context: SupabaseContext) throws(InfrastructureError) {
        let configuration = context.configuration
        self.init(
            try SupabaseFileService(context, tokens: context.tokens),
            folder: try context.folder("files")?.appendingPathComponent(
                PercentCoding.encode(configuration.bucket ?? configuration.buckets[0].name), isDirectory: true),
            session: context.module.session)
    }

    // MARK: Transfers

    public func upload(
        _ source: UploadSource, to path: FilePath, options: UploadOptions
    ) async throws(FileStorageError) -> FileTransfer<FileMetadata> {
        try check(path)
        if case .stream(nil, _) = source {
            throw .unsupported("uploads of unknown length", by: provider, instead: "Say how long it is.")
        }
        let content = try UploadContent(source)
        let service = try await service.bound()
        let driver = SupabaseUploadDriver(service, to: path, options)
        return try manager.upload(content, to: path, options, of: service.owner, driver: driver)
    }

    public func interruptedUploads() async throws(FileStorageError) -> [InterruptedUpload] {
        try manager.interruptedUploads(of: try await service.bound().owner)
    }

    public func resumeUpload(
        _ id: InterruptedUpload.ID
    ) async throws(FileStorageError) -> FileTransfer<FileMetadata> {
        guard capabilities.resumableUploads else {
            throw .unsupported("resumable uploads", by: provider, instead: "Give the app a state folder.")
        }
        let service = try await service.bound()
        return try manager.resume(id, of: service.owner) { record in
            SupabaseUploadDriver(service, to: FilePath(unchecked: record.path), record.options.uploadOptions)
        }
    }

    public func download(
        _ path: FilePath, to file: URL
    ) async throws(FileStorageError) -> FileTransfer<FileMetadata> {
        try check(path)
        let service = try await service.bound()
        return try manager.download(path, to: file, driver: SupabaseDownloadDriver(service: service)) {
            () async throws(FileStorageError) in StoredFile(try await service.info(path))
        }
    }

    public func bytes(of path: FilePath, range: Range<Int64>?) -> EventStream<Data, FileStorageError> {
        manager.bytes(of: path, range: range) { [self] () async throws(FileStorageError) in
            try check(path)
            return SupabaseDownloadDriver(service: try await service.bound())
        }
    }

    public func data(at path: FilePath, range: Range<Int64>?, limit: Int) async throws(FileStorageError) -> Data {
        try check(path)
        return try await manager.data(
            at: path, range: range, limit: limit, driver: SupabaseDownloadDriver(service: try await service.bound()))
    }

    private func check(_ path: FilePath) throws(FileStorageError) {
        try manager.checkOpen()
        try path.checked()
        try path.checkForSupabase()
        _ = try service.buckets.place(of: path)
    }

    // MARK: Files

    public func metadata(of path: FilePath) async throws(FileStorageError) -> FileMetadata {
        try check(path)
        return try await service.bound().info(path)
    }

    public func updateMetadata(
        of path: FilePath, _ changes: FileMetadataChanges
    ) async throws(FileStorageError) -> FileMetadata {
        try check(path)
        let service = try await service.bound()
        let old = try await service.info(path)
        var notes = old.custom
        for (name, value) in changes.custom { notes[name] = value }
        var body = try ends(path, path)
        body["copyMetadata"] = false
        body["metadata"] = [
            "mimetype": .string(changes.contentType ?? old.contentType),
            "cacheControl": .string(changes.cacheControl ?? old.cacheControl ?? "no-cache"),
        ]
        let request = service.post(
            service.address + "/object/copy", .object(body),
            ["x-upsert": "true", "x-metadata": Base64.encode(UploadOptions.supabaseJSON(notes).bytes())])
        _ = try await service.persistently("metadata change") { () throws(FileStorageError) in
            try await service.call(request)
        }
        return try await service.info(path)
    }

    /// One page of a folder. Subfolders are sorted together with the files.
    public func list(_ folder: FilePath?, pageSize: Int, page: String?) async throws(FileStorageError) -> FileList {
        guard (1...1000).contains(pageSize) else {
            throw FileStorageError(.invalidArgument, "A page has 1 to 1000 entries, not \(pageSize).")
        }
        try manager.checkOpen()
        try folder?.checked()
        try folder?.checkForSupabase()
        guard let offset = Int(page ?? "0"), offset >= 0 else {
            throw FileStorageError(.invalidArgument, "There is no such page. Pass the nextPage of an earlier list.")
        }
        // Folders that show buckets are all on the first page.
        let mounted = offset == 0 ? service.buckets.folders(in: folder) : []
        guard let place = service.buckets.place(ofFolder: folder) else {
            return FileList(files: [], folders: mounted.sorted(), nextPage: nil)
        }
        let request = service.post(
            "\(service.address)/object/list/\(PercentCoding.encode(place.bucket))",
            [
                "prefix": .string(place.name), "limit": .integer(Int64(pageSize)),
                "offset": .integer(Int64(offset)), "sortBy": ["column": "name", "order": "asc"],
            ])
        let service = try await service.bound()
        let rows = try await service.persistently("list") { () throws(FileStorageError) in
            let answer = try await service.call(request).body
            guard let rows = (try? JSON(parsing: answer))?.array else { throw .unreadable }
            return rows
        }
        if rows.isEmpty, offset == 0 { try await service.checkBucket(place.bucket) }
        let prefix = folder.map { $0.rawValue + "/" } ?? ""
        let files = rows.compactMap { FileMetadata(row: $0, in: prefix) }.filter {
            // A placeholder for an empty folder, created by the dashboard.
            $0.path.name != ".emptyFolderPlaceholder"
        }
        let hidden = service.buckets.folders(in: folder)
        let folders = rows.filter { $0["id"]?.string == nil }.compactMap { row in
            row["name"]?.string.flatMap { try? FilePath(validating: prefix + $0) }
        }.filter { !hidden.contains($0) }
        return FileList(
            files: files.sorted { $0.path < $1.path }, folders: (folders + mounted).sorted(),
            nextPage: rows.count < pageSize ? nil : String(offset + rows.count))
    }

    public func copy(_ source: FilePath, to destination: FilePath) async throws(FileStorageError) -> FileMetadata {
        try check(source)
        try check(destination)
        var body = try ends(source, destination)
        body["copyMetadata"] = true
        let request = service.post(service.address + "/object/copy", .object(body), ["x-upsert": "true"])
        let service = try await service.bound()
        _ = try await service.persistently("copy") { () throws(FileStorageError) in try await service.call(request) }
        return try await service.info(destination)
    }

    /// - Throws: `.alreadyExists` if the destination exists, since the server does not replace it.
    public func move(_ source: FilePath, to destination: FilePath) async throws(FileStorageError) -> FileMetadata {
        try check(source)
        try check(destination)
        let service = try await service.bound()
        let request = service.post(service.address + "/object/move", .object(try ends(source, destination)))
        // Not repeated: after a lost answer, a completed move looks like a missing file.
        _ = try await service.call(request)
        return try await service.info(destination)
    }

    private func ends(_ source: FilePath, _ destination: FilePath) throws(FileStorageError) -> JSONObject {
        let (source, destination) = (try service.buckets.place(of: source), try service.buckets.place(of: destination))
        var body: JSONObject = [
            "bucketId": .string(source.bucket), "sourceKey": .string(source.name),
            "destinationKey": .string(destination.name),
        ]
        if destination.bucket != source.bucket { body["destinationBucket"] = .string(destination.bucket) }
        return body
    }

    public func delete(_ path: FilePath) async throws(FileStorageError) {
        try check(path)
        let request = HTTPRequest(.delete, try service.address("object", of: path), isIdempotent: false)
        let service = try await service.bound()
        // An attempt whose answer was lost may have deleted the file already.
        try await service.persistently("delete", isDone: { $0.code == .notFound ? () : nil }) {
            () throws(FileStorageError) in
            _ = try await service.call(request)
        }
    }

    // MARK: Addresses

    public func downloadURL(of path: FilePath, expiresIn: Duration?) async throws(FileStorageError) -> URL {
        try check(path)
        guard let expiresIn else {
            guard try service.buckets.place(of: path).isPublic else {
                throw .unsupported(
                    "addresses without an end", by: provider,
                    instead: "Ask for one that expires, or make the bucket public.")
            }
            return try url(try service.address("object/public", of: path))
        }
        guard expiresIn >= .seconds(1) else {
            throw FileStorageError(.invalidArgument, "A URL must be valid for at least one second.")
        }
        let request = service.post(
            try service.address("object/sign", of: path), ["expiresIn": .integer(expiresIn.components.seconds)])
        let service = try await service.bound()
        let answer = try await service.persistently("expiring address") { () throws(FileStorageError) in
            try await service.call(request).body
        }
        let json = try? JSON(parsing: answer)
        guard let signed = json?["signedURL"]?.string ?? json?["signedUrl"]?.string else { throw .unreadable }
        return try url(relative: signed)
    }

    /// An address to which anyone can upload one file with `PUT`, for about two hours.
    public func uploadURL(for path: FilePath, replacesExisting: Bool = false) async throws(FileStorageError) -> URL {
        try check(path)
        let request = service.post(
            try service.address("object/upload/sign", of: path), [:], ["x-upsert": replacesExisting ? "true" : "false"])
        let service = try await service.bound()
        let answer = try await service.persistently("upload address") { () throws(FileStorageError) in
            try await service.call(request).body
        }
        guard let signed = (try? JSON(parsing: answer))?["url"]?.string else { throw .unreadable }
        return try url(relative: signed)
    }

    /// The server returns signed addresses without its host, and with an unencoded path.
    private func url(relative text: String) throws(FileStorageError) -> URL {
        guard let end = text.lastIndex(of: "?"), text[end...].hasPrefix("?token=") else { throw .unreadable }
        let path = text[..<end].split(separator: "/").map {
            PercentCoding.encode(PercentCoding.decode($0) ?? String($0))
        }
        return try url("\(service.address)/\(path.joined(separator: "/"))\(text[end...])")
    }

    private func url(_ text: String) throws(FileStorageError) -> URL {
        guard let url = URL(string: text) else {
            throw FileStorageError(.invalidArgument, "The path cannot be written as a URL.")
        }
        return url
    }

    public func shutDown() async {
        await manager.shutDown()
        if !sharesTransport { await service.transport.shutDown() }
    }
}
