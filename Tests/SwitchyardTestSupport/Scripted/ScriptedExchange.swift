package import SwitchyardWire

/// One request a script expects, and what is to happen then.
package struct ScriptedExchange: Sendable {
    enum Answer: Sendable {
        case reply(@Sendable (RecordedRequest) -> ScriptedReply)
        case webSocket([ScriptedWebSocketStep])
        case refusal(TransportError)
    }

    /// For messages: what was expected.
    package let name: String
    /// Why a request is not the expected one; `nil` if it is.
    let mismatch: @Sendable (RecordedRequest) -> String?
    let answer: Answer

    /// Expects `method` and exactly this address (redacted nowhere: a script is a test).
    ///
    /// - Parameter check: further conditions on headers or body; answers what is wrong, or `nil`.
    package static func on(
        _ method: HTTPMethod, _ url: String, check: @escaping @Sendable (RecordedRequest) -> String? = { _ in nil },
        reply: @escaping @Sendable (RecordedRequest) -> ScriptedReply
    ) -> ScriptedExchange {
        ScriptedExchange(
            name: "\(method) \(url)",
            mismatch: { recorded in
                guard recorded.request.method == method else { return "the method is \(recorded.request.method)" }
                guard recorded.request.url == url else { return "the address is \(recorded.request.url)" }
                return check(recorded)
            },
            answer: .reply(reply))
    }

    package static func on(
        _ method: HTTPMethod, _ url: String, check: @escaping @Sendable (RecordedRequest) -> String? = { _ in nil },
        _ reply: ScriptedReply
    ) -> ScriptedExchange {
        on(method, url, check: check) { _ in reply }
    }

    /// Expects anything `matches` accepts, under a name for messages.
    package static func matching(
        _ name: String, _ matches: @escaping @Sendable (RecordedRequest) -> Bool,
        reply: @escaping @Sendable (RecordedRequest) -> ScriptedReply
    ) -> ScriptedExchange {
        ScriptedExchange(name: name, mismatch: { matches($0) ? nil : "it does not match" }, answer: .reply(reply))
    }

    /// Expects a web socket to be opened at this address, and plays `steps` on it.
    package static func webSocket(
        _ url: String, check: @escaping @Sendable (RecordedRequest) -> String? = { _ in nil },
        _ steps: [ScriptedWebSocketStep]
    ) -> ScriptedExchange {
        webSocket(url, check: check, answer: .webSocket(steps))
    }

    /// Expects a web socket to be opened at this address, and answers the upgrade with `response`.
    package static func webSocket(_ url: String, refusedWith response: HTTPResponse) -> ScriptedExchange {
        let refusal = TransportError(
            .webSocketRefused, "the server answered \(response.status)", mayHaveBeenSent: true, response: response)
        return webSocket(url, check: { _ in nil }, answer: .refusal(refusal))
    }

    private static func webSocket(
        _ url: String, check: @escaping @Sendable (RecordedRequest) -> String?, answer: Answer
    ) -> ScriptedExchange {
        ScriptedExchange(
            name: "WebSocket \(url)",
            mismatch: { recorded in
                guard recorded.operation == .webSocket else { return "it is no web socket" }
                guard recorded.request.url == url else { return "the address is \(recorded.request.url)" }
                return check(recorded)
            },
            answer: answer)
    }
}

/// A request as the scripted transport got it.
package struct RecordedRequest: Sendable {
    package enum Operation: Sendable, Hashable {
        case send, stream, upload, download, webSocket
    }

    package let operation: Operation
    package let request: HTTPRequest
    /// The whole body, of uploads too.
    package let body: [UInt8]

    package var text: String { String(decoding: body, as: UTF8.self) }
}

/// What a script and the requests disagreed about.
package struct ScriptFailure: Error, CustomStringConvertible {
    package let problems: [String]
    package var description: String { problems.joined(separator: "\n") }
}
