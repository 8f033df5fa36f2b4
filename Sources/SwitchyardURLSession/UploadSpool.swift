import Foundation
import SwitchyardWire

/// The body of an upload as a file, the only form that `URLSession` streams on all platforms.
final class UploadSpool: Sendable {
    let path: String
    private let isTemporary: Bool

    /// Writes `body` to a temporary file, unless it is already a complete file.
    init(_ body: RequestBody) async throws(TransportError) {
        if case .file(let path, nil) = body.content {
            guard FileManager.default.isReadableFile(atPath: path) else {
                throw TransportError(.requestBodyFailed, "the file cannot be opened")
            }
            self.path = path
            isTemporary = false
            return
        }
        path = FileManager.default.temporaryDirectory.appendingPathComponent("upload-\(UUID().uuidString)").path
        isTemporary = true
        try await FileSink.write(body, to: FileDestination(path))
    }

    deinit {
        if isTemporary { try? FileManager.default.removeItem(atPath: path) }
    }
}
