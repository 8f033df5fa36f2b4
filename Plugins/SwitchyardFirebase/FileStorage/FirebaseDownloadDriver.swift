import Switchyard
import SwitchyardWire

/// The call that downloads are made of.
struct FirebaseDownloadDriver: DownloadDriver {
    let service: FirebaseFileService

    func open(_ path: FilePath, _ request: DownloadRequest) async throws(FileStorageError) -> DownloadAnswer {
        var call = HTTPRequest(.get, service.address(of: path, ["alt": "media"]))
        // As it is stored: with its length, its sums, and ranges that mean its bytes.
        call.decompresses = false
        // A slow consumer holds back a connection of its own, not one that others share.
        call.httpVersion = .http1
        if let range = request.rangeHeader { call.headers["Range"] = range }
        let transport = service.transport
        let stream = try await service.authorized(call, about: .object) { call throws(TransportError) in
            try await transport.stream(call)
        }
        return DownloadAnswer(try DownloadHead(firebase: stream.head), Body(stream.body))
    }

    private final class Body: DownloadBody {
        private let body: HTTPBody

        init(_ body: HTTPBody) { self.body = body }

        func next() async throws(FileStorageError) -> [UInt8]? {
            var iterator = body.makeAsyncIterator()
            do throws(TransportError) {
                return try await iterator.next()
            } catch {
                throw FileStorageError(error)
            }
        }

        func cancel() { body.cancel() }
    }
}
