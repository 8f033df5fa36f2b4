import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardServerKit
import SwitchyardWire

/// The files of a backend.
struct FileRoutes: Sendable {
    let backend: PageBackend

    func list(_ call: PageCall) async throws -> JSON {
        let prefix = call.query("prefix").flatMap { text in
            text.isEmpty ? nil : text.hasSuffix("/") ? String(text.dropLast()) : text
        }
        let folder = try prefix.map { try FilePath(validating: $0) }
        if folder == nil { try await backend.source.refresh() }
        if folder == nil, await !backend.source.hasFiles {
            return .object(["folders": [], "files": [], "page": .null])
        }
        let files = try await backend.files(call.persona())
        let page = call.query("page").flatMap { $0.isEmpty ? nil : $0 }
        let list = try await files.list(folder, pageSize: 200, page: page)
        return .object([
            "folders": .array(list.folders.map { .string($0.rawValue + "/") }),
            "files": .array(list.files.map(Self.json)), "page": list.nextPage.map { .string($0) } ?? .null,
        ])
    }

    static func json(_ file: FileMetadata) -> JSON {
        .object([
            "path": .string(file.path.rawValue), "size": .integer(file.size), "type": .string(file.contentType),
            "updatedAt": .text(file.updatedAt.map { "\($0)" }),
            "custom": .object(
                JSONObject(file.custom.sorted { $0.key < $1.key }.map { (key: $0.key, value: .string($0.value)) })),
        ])
    }

    private func path(_ call: PageCall) throws -> FilePath { try FilePath(validating: call.query("path") ?? "") }

    /// The contents, as they come. Whatever they are, they run nothing in the page.
    func content(_ call: PageCall) async throws -> ServerResponse {
        let path = try path(call)
        let files = try await backend.files(call.persona())
        let metadata = try await files.metadata(of: path)
        let isDownload = call.query("download") == "true"
        let headers: HTTPHeaders = [
            "Content-Type": Self.type(metadata.contentType), "Content-Security-Policy": "sandbox; default-src 'none'",
            "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store",
            "Content-Disposition": (isDownload ? "attachment" : "inline") + "; filename*=UTF-8''"
                + PercentCoding.encode(path.name),
        ]
        guard metadata.size > 0 else { return ServerResponse(headers: headers) }
        let bytes = files.bytes(of: path, range: nil)
        return .stream(headers: headers, length: Int(metadata.size)) { writer in
            for try await piece in bytes { try await writer.write([UInt8](piece)) }
        }
    }

    /// A type that cannot end the header field.
    private static func type(_ text: String) -> String {
        text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F } && !text.isEmpty ? text : "application/octet-stream"
    }

    /// Stores the body as it arrives, so that the browser's progress is that of the upload.
    func upload(_ call: PageCall) async throws -> JSON {
        let path = try path(call)
        let files = try await backend.files(call.persona())
        let length = call.request.headers["Content-Length"].flatMap { Int64($0) }
        let type = call.request.headers["Content-Type"].flatMap { $0.isEmpty ? nil : $0 }
        let body = call.request.body
        let source = UploadSource.stream(length: length) { body.map { Data($0) } }
        let transfer = try await files.upload(
            source, to: path, options: UploadOptions(contentType: type ?? path.contentType))
        return Self.json(try await transfer.result())
    }

    func delete(_ call: PageCall) async throws -> JSON {
        try await backend.files(call.persona()).delete(path(call))
        return [:]
    }
}
