import Switchyard
import SwitchyardBytes
import SwitchyardProviderHTTP
import SwitchyardWire

/// Why a call to one of the messaging services failed.
struct FirebaseMessagingFailure: Error, Sendable {
    enum Kind: Sendable {
        /// `code` is messaging's own if there is one, otherwise Google's general status.
        case refused(code: String, status: Int)
        case unanswered(TransportError?, status: Int?)
        case unsafeAddress
        /// A registration under the name of another installation.
        case foreignName
    }

    let kind: Kind
    var retryAfter: Duration?

    init(_ kind: Kind) { self.kind = kind }

    static let unreadable = FirebaseMessagingFailure(.unanswered(nil, status: nil))

    var status: Int? { if case .refused(_, let status) = kind { status } else { nil } }

    /// Whether the sender's token was refused. The service uses the same status if a push service's key was refused.
    var isOfToken: Bool {
        if case .refused(let code, 401) = kind { ["UNAUTHENTICATED", "HTTP_401"].contains(code) } else { false }
    }

    /// The total number of attempts, each with a new token of the installation.
    var worthwhileAttempts: Int {
        switch kind {
        case .refused(_, 401): 2
        // The same as in the vendor's client.
        case .foreignName: 3
        default: 1
        }
    }

    init(_ response: HTTPResponse, now: Int64) {
        retryAfter = response.headers["Retry-After"].flatMap { RetryAfter.delay($0, now: now) }
        // Without a `Retry-After` header, the service expects a delay of one minute.
        if response.status == 429, retryAfter == nil { retryAfter = .seconds(60) }
        let error = (try? JSON(parsing: response.body))?["error"]
        // An answer without the service's error format comes from a proxy and says nothing about registrations.
        let isItsOwn = error?.object != nil || [401, 429].contains(response.status)
        guard response.status < 500, isItsOwn else {
            kind = .unanswered(nil, status: response.status)
            return
        }
        let own = (error?["details"]?.array ?? []).compactMap { $0["errorCode"]?.string }.first
        let reasons = (error?["details"]?.array ?? []).compactMap { $0["reason"]?.string }
        let code = own ?? reasons.first { $0.hasPrefix("API_KEY_") } ?? error?["status"]?.string
        kind = .refused(code: code ?? "HTTP_\(response.status)", status: response.status)
    }
}

/// Maps the codes of Firebase's messaging services to the portable codes.
extension MessagingError {
    init(_ failure: FirebaseMessagingFailure) {
        switch failure.kind {
        case .unsafeAddress:
            self.init(.invalidArgument, PlainHTTP.refusal(of: "secret"))
        case .foreignName:
            self.init(.unavailable, "The server registered a different installation. Try again.", underlying: failure)
        case .unanswered(let error?, _):
            self.init(error)
        case .unanswered(nil, let status):
            let reason = status.map { " (HTTP \($0))" } ?? ""
            self.init(
                .unavailable,
                "The server returned an invalid response\(reason). Check hosts in Firebase's configuration.",
                retryAfter: failure.retryAfter, underlying: failure)
        case .refused(let serverCode, let status):
            let (code, message): (Code, String) =
                switch (serverCode, status) {
                case ("UNREGISTERED", _):
                    (.unregistered, "The registration no longer exists. Let the device register again.")
                case ("API_KEY_INVALID", _):
                    (
                        .unauthenticated,
                        "The project does not accept the API key (\(serverCode)). Copy apiKey from the Firebase console: "
                            + "Project settings, General."
                    )
                case _ where serverCode.hasPrefix("API_KEY_"):
                    (
                        .unauthenticated,
                        "The API key may not be used for messages (\(serverCode)). See its restrictions in the Google Cloud "
                            + "console: APIs & Services, Credentials."
                    )
                case ("SENDER_ID_MISMATCH", _):
                    (
                        .unauthorized,
                        "The device's token belongs to another project. Send with that project's credential."
                    )
                case ("THIRD_PARTY_AUTH_ERROR", _):
                    (
                        Code(rawValue: serverCode),
                        "Apple's or the browser's push service refuses the project's key. Upload a valid one in the Firebase "
                            + "console: Project settings, Cloud Messaging."
                    )
                case ("QUOTA_EXCEEDED", _), ("RESOURCE_EXHAUSTED", _), (_, 429):
                    (.rateLimited, "Too many requests. Try again later.")
                case ("UNAUTHENTICATED", _), (_, 401):
                    (
                        .unauthenticated,
                        "The server does not accept the token of the call. Check the credential, or apiKey and appID, in "
                            + "Firebase's configuration."
                    )
                case ("PERMISSION_DENIED", _), (_, 403):
                    (
                        .unauthorized,
                        "The project does not allow the call. Check in the Google Cloud console that the Firebase Cloud "
                            + "Messaging API is enabled, and which roles the credential has."
                    )
                case ("INVALID_ARGUMENT", _), ("FAILED_PRECONDITION", _):
                    (.invalidArgument, "The server rejected the request. Check Firebase's appID and the message.")
                case ("NOT_FOUND", _), (_, 404):
                    (
                        .invalidArgument,
                        "The project, app or registration does not exist. Check project and appID in Firebase's configuration."
                    )
                default:
                    (
                        Code(rawValue: serverCode),
                        "The server refused the call (\(serverCode)). Look up the code in the documentation of Firebase Cloud "
                            + "Messaging, and check appID in Firebase's configuration."
                    )
                }
            self.init(code, message, retryAfter: failure.retryAfter, underlying: failure)
        }
    }
}
