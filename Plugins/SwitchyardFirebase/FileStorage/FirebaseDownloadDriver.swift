import ProviderWire
import Switchyard
import SwitchyardWire

/// The call that downloads are made of.
struct FirebaseDownloadDriver: DownloadDriver {
    let service: FirebaseFileService

    func open(_ path: FilePath, _ request: DownloadRequest) async throws(FileStorageError) -> DownloadAnswer {
        let call = HTTPRequest(download: service.address(of: path, ["alt": "media"]), request)
        let transport = service.transport
        let stream = try await service.authorized(call, about: .object) { call throws(TransportError) in
            try await transport.stream(call)
        }
        return DownloadAnswer(try DownloadHead(firebase: stream.head), HTTPDownloadBody(stream.body))
    }
}
