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
