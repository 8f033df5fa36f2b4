package import Switchyard
package import SwitchyardProviderKit
package import SwitchyardWire

extension HTTPRequest {
    /// A request for a file or a range of it.
    package init(download url: String, _ request: DownloadRequest) {
        self.init(.get, url)
        // The stored bytes, so that length, checksums and ranges match.
        decompresses = false
        // A separate connection, so that a slow consumer blocks no shared one.
        httpVersion = .http1
        if let range = request.rangeHeader { headers["Range"] = range }
    }
}

/// The bytes of a download as they arrive.
package final class HTTPDownloadBody: DownloadBody {
    private let body: HTTPBody

    package init(_ body: HTTPBody) { self.body = body }

    package func next() async throws(FileStorageError) -> [UInt8]? {
        var iterator = body.makeAsyncIterator()
        do throws(TransportError) {
            return try await iterator.next()
        } catch {
            throw FileStorageError(error)
        }
    }

    package func cancel() { body.cancel() }
}
