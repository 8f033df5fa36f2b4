import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardProviderHTTP
import SwitchyardProviderKit
import SwitchyardWire
import Synchronization

/// The calls of one upload: a plain body for contents that fit into one request, the resumable protocol for all others.
final class SupabaseUploadDriver: UploadDriver {
    /// The exact size of all parts but the last.
    static let part: Int64 = 6 << 20
    static let policy = TransferPolicy(firstPart: part, largestPart: part, wholeLimit: part)

    private let service: SupabaseFileService
    private let path: FilePath
    private let options: UploadOptions
    /// The total size, once the last part is sent. The server forgets completed uploads.
    private let completed = Mutex<Int64?>(nil)
    /// Whether everything was sent in one request without an answer, so that the file may exist.
    private let mayBeStored = Mutex(false)

    /// - Parameter service: Bound to the user who starts the upload.
    init(_ service: SupabaseFileService, to path: FilePath, _ options: UploadOptions) {
        self.service = service
        self.path = path
        self.options = options
    }

    private var contentType: String { options.contentType ?? path.contentType }
    private var upsert: String { options.replacesExisting ? "true" : "false" }

    func store(
        _ bytes: UploadBytes, progress: @escaping @Sendable (Int64) -> Void
    ) async throws(FileStorageError) -> StoredFile {
        var request = HTTPRequest(.post, try service.address("object", of: path))
        request.headers["Content-Type"] = contentType
        request.headers["x-upsert"] = upsert
        if let control = options.cacheControl { request.headers["Cache-Control"] = control }
        if let notes = options.supabaseNotes { request.headers["x-metadata"] = notes }
        let transport = service.transport
        let body: RequestBody =
            switch bytes {
            case .memory(let bytes): .bytes(bytes)
            case .file(let path, let range): .file(path, range: range)
            }
        do throws(FileStorageError) {
            _ = try await service.authorized(request) { request throws(TransportError) in
                try await transport.upload(request, body: body, progress: progress)
            }
        } catch {
            if error.isRetryable { mayBeStored.withLock { $0 = true } }
            // The existing file may come from an earlier attempt.
            guard error.code == .alreadyExists, mayBeStored.withLock({ $0 }),
                try await service.hasContents(path, try bytes.collected())
            else { throw error }
        }
        return try await stored(bytes.count)
    }

    /// The stored file. A user who may write but not read gets what was sent.
    private func stored(_ size: Int64) async throws(FileStorageError) -> StoredFile {
        do throws(FileStorageError) {
            return StoredFile(try await service.info(path))
        } catch {
            guard error.code == .notFound || error.code == .unauthorized else { throw error }
            return StoredFile(
                FileMetadata(
                    path: path, size: size, contentType: contentType, cacheControl: options.cacheControl,
                    custom: options.custom))
        }
    }

    // MARK: Parts

    func begin(length: Int64?) async throws(FileStorageError) -> UploadSession {
        guard let length else {
            throw .unsupported("uploads of unknown length", by: "supabase", instead: "Say how long it is.")
        }
        var request = HTTPRequest(.post, service.address + "/upload/resumable", headers: headers)
        request.headers["Upload-Length"] = String(length)
        request.headers["Upload-Metadata"] = metadata(of: try service.buckets.place(of: path))
        let response = try await service.call(request, isSession: true)
        guard let home = try? URLParts(validating: service.address), let location = response.headers["Location"],
            let address = home.resolving(location)
        else { throw .unreadable }
        return UploadSession(address: address, granularity: Self.part, owner: service.owner)
    }

    private var headers: HTTPHeaders { ["Tus-Resumable": "1.0.0", "x-upsert": upsert] }

    private func metadata(of place: SupabaseBuckets.Place) -> String {
        var pairs = [
            ("bucketName", place.bucket), ("objectName", place.name), ("contentType", contentType),
        ]
        // Only a number of seconds is accepted here.
        if let age = options.cacheControl?.split(separator: "=").last.flatMap({ Int($0) }) {
            pairs.append(("cacheControl", String(age)))
        }
        if !options.custom.isEmpty { pairs.append(("metadata", UploadOptions.supabaseJSON(options.custom).text())) }
        return pairs.map { "\($0.0) \(Base64.encode(Array($0.1.utf8)))" }.joined(separator: ",")
    }

    func send(
        _ bytes: UploadBytes, at offset: Int64, isLast: Bool, in session: UploadSession,
        progress: @escaping @Sendable (Int64) -> Void
    ) async throws(FileStorageError) -> UploadAnswer {
        var request = HTTPRequest(.patch, session.address, headers: headers, isIdempotent: false)
        request.headers["Content-Type"] = "application/offset+octet-stream"
        request.headers["Upload-Offset"] = String(offset)
        let body: RequestBody =
            switch bytes {
            case .memory(let bytes): .bytes(bytes)
            case .file(let path, let range): .file(path, range: range)
            }
        if isLast { completed.withLock { $0 = offset + bytes.count } }
        let transport = service.transport
        let response: HTTPResponse
        do throws(FileStorageError) {
            response = try await service.authorized(request, isSession: true) { request throws(TransportError) in
                try await transport.upload(request, body: body, progress: progress)
            }
        } catch {
            // Either the offset was wrong or the name is taken by now; the state says which.
            guard error.code == .alreadyExists else { throw error }
            return .displaced
        }
        guard let taken = response.headers["Upload-Offset"].flatMap({ Int64($0) }) else { throw .unreadable }
        guard isLast, taken == offset + bytes.count else { return .active(offset: taken) }
        return .finished(try await stored(taken))
    }

    func state(of session: UploadSession) async throws(FileStorageError) -> UploadAnswer {
        let response: HTTPResponse
        do throws(FileStorageError) {
            response = try await service.call(HTTPRequest(.head, session.address, headers: headers), isSession: true)
        } catch {
            guard error.code == .uploadExpired, let size = completed.withLock({ $0 }),
                let made = try await made(by: session, size)
            else { throw error }
            return .finished(made)
        }
        guard let offset = response.headers["Upload-Offset"].flatMap({ Int64($0) }) else { throw .unreadable }
        if let length = response.headers["Upload-Length"].flatMap({ Int64($0) }), offset == length, length > 0 {
            return try await complete(session, length)
        }
        return .active(offset: offset)
    }

    /// Completes an upload whose bytes have all arrived, with an empty part, if the server failed to do so. A server that has
    /// completed it already may refuse.
    private func complete(_ session: UploadSession, _ length: Int64) async throws(FileStorageError) -> UploadAnswer {
        var request = HTTPRequest(.patch, session.address, headers: headers, isIdempotent: false)
        request.headers["Content-Type"] = "application/offset+octet-stream"
        request.headers["Upload-Offset"] = String(length)
        do throws(FileStorageError) {
            _ = try await service.call(request, isSession: true)
        } catch {
            guard error.underlying is SupabaseFileFailure, let made = try await made(by: session, length) else {
                throw error
            }
            return .finished(made)
        }
        return .finished(try await stored(length))
    }

    /// The file made by an upload that the server no longer knows; `nil` if the file is another one, even of the same size.
    private func made(by session: UploadSession, _ size: Int64) async throws(FileStorageError) -> StoredFile? {
        do throws(FileStorageError) {
            guard let made = try await service.info(path, madeBy: session), made.size == size else { return nil }
            return StoredFile(made)
        } catch {
            // Without an answer the state is unknown, so retry; a user who may not read never gets one.
            guard error.isRetryable else { return nil }
            throw error
        }
    }

    func abandon(_ session: UploadSession) async {
        _ = try? await service.call(
            HTTPRequest(.delete, session.address, headers: headers), isSession: true)
    }
}

/// The calls of one download.
struct SupabaseDownloadDriver: DownloadDriver {
    /// Bound to the user who starts the download.
    let service: SupabaseFileService

    func size(of path: FilePath) async throws(FileStorageError) -> Int64 { try await service.info(path).size }

    func open(_ path: FilePath, _ request: DownloadRequest) async throws(FileStorageError) -> DownloadAnswer {
        // This route reports an expired session; others answer as if no user were signed in.
        let call = HTTPRequest(download: try service.address("object/authenticated", of: path), request)
        let transport = service.transport
        let stream = try await service.authorized(call) { call throws(TransportError) in
            try await transport.stream(call)
        }
        return DownloadAnswer(try DownloadHead(supabase: stream.head), HTTPDownloadBody(stream.body))
    }
}
