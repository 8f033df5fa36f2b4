package import Switchyard
package import SwitchyardProviderKit
package import SwitchyardWire

extension HTTPRequest {
    /// For a file's bytes, or those of a range.
    package init(download url: String, _ request: DownloadRequest) {
        self.init(.get, url)
        // As it is stored: with its length, its sums, and ranges that mean its bytes.
        decompresses = false
        // A slow consumer holds back a connection of its own, not one that others share.
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
