package import SwitchyardBytes

/// The refusal of a call, with a code and the server's own text, which is only for people.
package struct FirestoreFailure: Error, Sendable, Hashable {
    package let status: FirestoreStatus
    /// May name missing indexes or failed rules; empty if the server sent no text.
    package let message: String
    /// The server's own status name, if it is not one of Firestore's.
    package let foreignStatus: String?
    /// The reason for a problem with the project or its key, such as `API_KEY_INVALID`. It comes from Google's front end, never
    /// from Firestore itself, which then has not seen the call.
    package let reason: String?
    /// Whether the server was there but could not answer, as while it starts anew or behind a gateway that has lost it.
    package private(set) var isPassing: Bool

    package init(_ status: FirestoreStatus, _ message: String, foreignStatus: String? = nil, reason: String? = nil) {
        self.status = status
        self.message = message
        self.foreignStatus = foreignStatus
        self.reason = reason
        isPassing = status == .unavailable
    }

    /// The same failure with another message.
    package func saying(_ message: String) -> FirestoreFailure {
        FirestoreFailure(status, message, foreignStatus: foreignStatus, reason: reason)
    }

    /// From the body of an answer with an HTTP error: `{"error": …}`, also as the only element of a list.
    ///
    /// Any other body comes from a gateway or a proxy and refuses nothing. Its HTTP status is used only if it can come from a
    /// proxy, otherwise the failure is `.unavailable`. An unknown code is `.unknown`, and its name is kept in
    /// ``foreignStatus``.
    ///
    /// - Parameter address: The address of the request.
    package init(body: some Collection<UInt8>, httpStatus: Int, from address: String? = nil) {
        let json = try? JSON(
            parsing: body, options: JSONParsingOptions(duplicateKeys: .keepLast, loneSurrogates: .replace))
        if let error = json?["error"] ?? json?[0]?["error"], error.object != nil {
            self.init(error: error, ifUnknown: .unknown)
        } else {
            let place = address.map { "“\($0)”" } ?? "Firestore's address"
            let answer = body.isWebPage ? "a web page" : "nothing that Firestore says"
            self.init(
                FirestoreStatus(strangeHTTPStatus: httpStatus),
                "\(place) answered with \(answer) (HTTP \(httpStatus)). Check hosts and emulators in "
                    + "Firebase's configuration, and that no proxy or sign-in page of the network is in between.")
            isPassing = [502, 503].contains(httpStatus)
        }
    }

    /// From the object under `error`, in a body or in a stream's message.
    ///
    /// - Parameter ifUnknown: The status for a missing or unknown code: `.unknown` in answers, `.internal` on streams.
    package init(error: JSON, ifUnknown: FirestoreStatus) {
        let (name, message) = (error["status"]?.string, error["message"]?.string ?? "")
        let reason = Self.reason(in: error["details"])
        if let status = name.flatMap({ FirestoreStatus(name: $0) }) {
            self.init(status, message, reason: reason)
        } else {
            self.init(
                ifUnknown, message, foreignStatus: name.flatMap { Self.isWord($0) ? $0 : nil }, reason: reason)
        }
    }

    private static func reason(in details: JSON?) -> String? {
        (details?.array ?? []).lazy.filter { ($0["domain"]?.string ?? gate) == gate }
            .compactMap { $0["reason"]?.string }.first { isWord($0) }
    }

    private static let gate = "googleapis.com"

    /// Whether the text is spelled like a code. Any other text could contain anything.
    private static func isWord(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 60
            && text.utf8.allSatisfy { ($0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "Z")) || $0 == UInt8(ascii: "_") }
    }

    /// From a `google.rpc.Status`, as in the cause of a removed target. A missing code number means zero.
    package init(rpcStatus: JSON) {
        self.init(
            FirestoreStatus(rawValue: rpcStatus["code"]?.int ?? 0) ?? .unknown, rpcStatus["message"]?.string ?? "",
            reason: Self.reason(in: rpcStatus["details"]))
    }

    /// The body that contains it.
    package var body: JSON {
        .object(
            "error",
            ["code": .integer(Int64(status.httpStatus)), "message": .string(message), "status": .string(status.name)])
    }

    package var rpcStatus: JSON { ["code": .integer(Int64(status.rawValue)), "message": .string(message)] }
}
