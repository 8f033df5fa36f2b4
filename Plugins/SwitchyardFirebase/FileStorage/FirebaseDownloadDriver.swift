import Switchyard
import SwitchyardProviderHTTP
import SwitchyardProviderKit
import SwitchyardWire

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
