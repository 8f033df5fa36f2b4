package import SwitchyardWire

/// An answer with a body that is there, or that comes.
package protocol HTTPAnswer: Sendable {
    var head: HTTPResponseHead { get }
    /// The whole, as far as it is of interest for a failure.
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
