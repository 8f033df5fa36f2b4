import Switchyard
import SwitchyardProviderHTTP
import SwitchyardProviderKit
import SwitchyardWire

/// The calls of one download.
struct SupabaseDownloadDriver: DownloadDriver {
    /// Bound to the user who starts the download.
    let service: SupabaseFileService

    func size(of path: FilePath) async throws(FileStorageError) -> Int64 { try await service.info(path).size }

    func open(_ path: FilePath, _ request: DownloadRequest) async throws(FileStorageError) -> DownloadAnswer {
        // This route reports an expired session; others answer as if nobody were signed in.
        let call = HTTPRequest(download: try service.address("object/authenticated", of: path), request)
        let transport = service.transport
        let stream = try await service.authorized(call) { call throws(TransportError) in
            try await transport.stream(call)
        }
        return DownloadAnswer(try DownloadHead(supabase: stream.head), HTTPDownloadBody(stream.body))
    }
}
