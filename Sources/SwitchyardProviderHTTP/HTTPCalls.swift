package import Foundation
package import Switchyard
package import SwitchyardBytes
package import SwitchyardProviderKit
package import SwitchyardWire

/// An answer whose body is complete or still arriving.
package protocol HTTPAnswer: Sendable {
    var head: HTTPResponseHead { get }
    /// The complete answer, with as much of its body as a failure needs.
    func whole() async -> HTTPResponse
}

extension HTTPResponse: HTTPAnswer {
    package func whole() async -> HTTPResponse { self }
}

extension HTTPStream: HTTPAnswer {
    package func whole() async -> HTTPResponse {
        HTTPResponse(head: head, body: (try? await body.collect(upTo: 64 * 1024)) ?? [])
    }
}

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

/// The user in whose name calls are made: a series started for one user never continues for another.
package struct CallOwner: Sendable, Hashable {
    /// `nil` if no user is signed in.
    package let userID: AuthUser.ID?

    package init(_ userID: AuthUser.ID?) { self.userID = userID }
}

/// A small private file with a client's state across launches. State that cannot be saved is determined again after a restart.
package struct StateFile: Sendable {
    private let file: URL?

    /// - Parameter file: `nil` to save nothing.
    package init(_ file: URL?) { self.file = file }

    package func read() -> JSON? {
        guard let file, let data = try? Data(contentsOf: file) else { return nil }
        return try? JSON(parsing: Array(data))
    }

    package func write(_ json: JSON) {
        guard let file else { return }
        _ = try? POSIXFile.replace(file.path, with: json.bytes())
    }
}

/// Plain HTTP to a machine in a private network, which a configuration can allow for development.
package enum PlainHTTP {
    /// - Parameter host: The configured host: a name or an address, without scheme and port.
    /// - Throws: `.invalidConfiguration` if it is not a host, or is a public one.
    package static func check(_ host: String?, of provider: String) throws(InfrastructureError) {
        guard let host else { return }
        guard let parts = try? URLParts(validating: "http://\(host)"), parts.port == nil, parts.path.isEmpty,
            parts.query == nil
        else {
            throw problem(provider, "must be a host alone, such as 192.168.1.20, not \(Secret.shown(host))")
        }
        guard parts.isPrivate else {
            throw problem(
                provider,
                "allows machines of a private network only, and \(Secret.shown(host)) is not one. Use https there")
        }
    }

    /// How to fix a plain HTTP address to which no secrets are sent.
    package static func remedy(for address: String) -> String {
        guard let parts = try? URLParts(validating: address), parts.isPrivate else { return "Use https." }
        return "Use https, or set allowsPlainHTTPTo to “\(parts.host)” while you develop on this network."
    }

    /// Why nothing is sent to a plain HTTP address that is no longer known.
    ///
    /// - Parameter what: What would have been sent, such as “secret”.
    package static func refusal(of what: String) -> String {
        "The address uses plain HTTP to another machine, so no \(what) is sent there. Use https, or allowsPlainHTTPTo while "
            + "you develop on a private network."
    }

    private static func problem(_ provider: String, _ what: String) -> InfrastructureError {
        InfrastructureError(.invalidConfiguration, "\(provider)'s allowsPlainHTTPTo \(what).")
    }
}
