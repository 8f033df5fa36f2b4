import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardProviderHTTP
import SwitchyardProviderKit
import SwitchyardWire
import Synchronization

/// The calls of one upload: multipart for contents that fit into one request, the resumable protocol for all others.
final class FirebaseUploadDriver: UploadDriver {
    /// The server's granularity of parts, and the largest part size of the vendor's web client. Files are sent from disk; parts
    /// of streams are kept in memory.
    static let policy = TransferPolicy(
        firstPart: 256 << 10, largestPart: 16 << 20, largestStreamPart: 4 << 20, wholeLimit: 256 << 10)

    private let service: FirebaseFileService
    private let path: FilePath
    private let options: UploadOptions
    /// Whether the check for an existing file is done.
    private let hasChecked: Mutex<Bool>

    /// - Parameter service: Bound to the user who starts the upload.
    init(_ service: FirebaseFileService, to path: FilePath, _ options: UploadOptions) {
        self.service = service
        self.path = path
        self.options = options
        hasChecked = Mutex(options.replacesExisting)
    }

    func begin(length: Int64?) async throws(FileStorageError) -> UploadSession {
        try await checkPlace()
        let description = path.firebaseDescription(options)
        var request = FirebaseFileService.json(.post, service.address(["name": path.rawValue]), description)
        request.headers["X-Goog-Upload-Protocol"] = "resumable"
        request.headers["X-Goog-Upload-Command"] = "start"
        request.headers["X-Goog-Upload-Header-Content-Type"] = options.contentType ?? path.contentType
        if let length { request.headers["X-Goog-Upload-Header-Content-Length"] = String(length) }
        let response = try await service.call(request, about: .bucket)
        guard response.headers["X-Goog-Upload-Status"]?.lowercased() == "active",
            let address = response.headers["X-Goog-Upload-URL"], (try? URLParts(validating: address)) != nil
        else { throw .unreadableAnswer }
        let granularity = response.headers["X-Goog-Upload-Chunk-Granularity"].flatMap { Int64($0) } ?? 256 << 10
        return UploadSession(address: address, granularity: min(max(granularity, 1), 16 << 20), owner: service.owner)
    }

    func send(
        _ bytes: UploadBytes, at offset: Int64, isLast: Bool, in session: UploadSession,
        progress: @escaping @Sendable (Int64) -> Void
    ) async throws(FileStorageError) -> UploadAnswer {
        let name = !isLast ? "upload" : bytes.count == 0 ? "finalize" : "upload, finalize"
        var request = command(name, to: session)
        request.headers["X-Goog-Upload-Offset"] = String(offset)
        request.headers["Content-Type"] = "application/octet-stream"
        let transport = service.transport
        let response: HTTPResponse
        do throws(FileStorageError) {
            response = try await service.authorized(request, about: .session) { request throws(TransportError) in
                try await transport.upload(request, body: RequestBody(bytes), progress: progress)
            }
        } catch {
            // If the position of the bytes was wrong, the server knows the right one.
            guard error.code == .invalidArgument else { throw error }
            return .displaced
        }
        switch response.headers["X-Goog-Upload-Status"]?.lowercased() {
        case "final": return .finished(try FirebaseObject(response.body).stored)
        case "active":
            let taken = response.headers["X-Goog-Upload-Size-Received"].flatMap { Int64($0) }
            return .active(offset: taken ?? offset + bytes.count)
        case "cancelled": throw Self.cancelledElsewhere
        default: throw .unreadableAnswer
        }
    }

    func state(of session: UploadSession) async throws(FileStorageError) -> UploadAnswer {
        let response = try await service.call(command("query", to: session), about: .session)
        switch response.headers["X-Goog-Upload-Status"]?.lowercased() {
        case "active":
            guard let offset = response.headers["X-Goog-Upload-Size-Received"].flatMap({ Int64($0) }) else {
                throw .unreadableAnswer
            }
            return .active(offset: offset)
        case "final": return .finished(try await service.object(path).stored)
        case "cancelled": throw Self.cancelledElsewhere
        default: throw .unreadableAnswer
        }
    }

    func store(
        _ bytes: UploadBytes, progress: @escaping @Sendable (Int64) -> Void
    ) async throws(FileStorageError) -> StoredFile {
        try await checkPlace()
        let body = FirebaseMultipart(
            path.firebaseDescription(options), contentType: options.contentType ?? path.contentType,
            try bytes.collected())
        var request = HTTPRequest(.post, service.address(["name": path.rawValue]))
        request.headers["X-Goog-Upload-Protocol"] = "multipart"
        request.headers["Content-Type"] = "multipart/related; boundary=\(body.boundary)"
        request.body = body.bytes
        return try FirebaseObject(try await service.call(request, about: .bucket).body).stored
    }

    func abandon(_ session: UploadSession) async {
        _ = try? await service.call(command("cancel", to: session), about: .session)
    }

    /// Only a rule can make the server refuse to replace a file: a file stored between this check and the end of the upload is
    /// overwritten.
    private func checkPlace() async throws(FileStorageError) {
        guard !hasChecked.withLock({ $0 }) else { return }
        do throws(FileStorageError) {
            _ = try FirebaseObject(
                try await service.call(HTTPRequest(.get, service.address(of: path)), about: .object).body)
        } catch {
            guard error.code == .notFound else { throw error }
            return hasChecked.withLock { $0 = true }
        }
        throw FileStorageError(.alreadyExists, "A file already exists at this path.")
    }

    private func command(_ name: String, to session: UploadSession) -> HTTPRequest {
        HTTPRequest(.post, session.address, headers: ["X-Goog-Upload-Command": name])
    }

    private static let cancelledElsewhere = FileStorageError(
        .uploadExpired, "The upload was cancelled on the server; start it again.")
}

extension RequestBody {
    fileprivate init(_ bytes: UploadBytes) {
        switch bytes {
        case .memory(let bytes): self = .bytes(bytes)
        case .file(let path, let range): self = .file(path, range: range)
        }
    }
}

/// The calls of one download.
struct FirebaseDownloadDriver: DownloadDriver {
    /// Bound to the user who starts the download.
    let service: FirebaseFileService

    func size(of path: FilePath) async throws(FileStorageError) -> Int64 {
        try await service.object(path).stored.metadata.size
    }

    func open(_ path: FilePath, _ request: DownloadRequest) async throws(FileStorageError) -> DownloadAnswer {
        let call = HTTPRequest(download: service.address(of: path, ["alt": "media"]), request)
        let transport = service.transport
        let stream = try await service.authorized(call, about: .object) { call throws(TransportError) in
            try await transport.stream(call)
        }
        return DownloadAnswer(try DownloadHead(firebase: stream.head), HTTPDownloadBody(stream.body))
    }
}
