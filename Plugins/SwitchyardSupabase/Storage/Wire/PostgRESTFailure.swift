import Switchyard
import SwitchyardBytes
import SwitchyardWire

/// An error answer of the data service.
struct PostgRESTFailure: Error, Hashable, Sendable {
    let status: Int
    /// The code of the database or the service; `nil` for another server's answer, such as a gateway's, and for an answer
    /// without one, which the service sends after losing the database. The call may then have been carried out.
    let code: String?
    let message: String
    /// For a refused batch, the index of the write.
    let details: String?
    /// Whether it is a web page, which the service never sends.
    let isPage: Bool
    /// Whether it is the service's answer when its connection to the database broke without a reason.
    let isWithoutDatabase: Bool
    /// The pause that the answer asks for.
    var retryAfter: Duration?
    /// A remark if the answer's time shows that this device's clock is wrong.
    var clockRemark: String?

    /// An error of the database in an answer about several queries.
    init(code: String, message: String) {
        (status, self.code, self.message, details, isPage, isWithoutDatabase) = (400, code, message, nil, false, false)
    }

    init(status: Int, body: [UInt8]) {
        self.status = status
        let json = try? JSON(parsing: body)
        isPage = body.isWebPage
        code = json.flatMap { PostgRESTFailure.code(in: $0) }
        let text = json?["message"]?.string ?? ""
        isWithoutDatabase = status == 400 && json?["code"] == "" && text.isEmpty
        message =
            code == nil && text.isEmpty
            ? "Something answered with status \(status) and no reason: the data service without its database, or a gateway "
                + "or proxy before it."
            : text
        details = json?["details"]?.string
    }

    /// Codes of other servers have another format or body. A function of the project may return any code, but its body has all
    /// of the service's members.
    private static func code(in body: JSON) -> String? {
        guard let code = body["code"]?.string, !code.isEmpty, body["message"]?.string != nil else { return nil }
        let isState =
            code.utf8.count == 5
            && code.utf8.allSatisfy { (48...57).contains($0) || (65...90).contains($0) }
        let isWhole = body["details"] != nil && body["hint"] != nil
        return isState || code.hasPrefix("PGRST") || isWhole ? code : nil
    }

    /// The message, without the value that the database quotes if it does not fit a column's type.
    var words: String {
        if code == "22P05" { return "A text contains U+0000, which PostgreSQL cannot store." }
        guard let code, ["22P02", "22003", "22007", "22008"].contains(code) else { return message }
        return message.split(separator: "\"", omittingEmptySubsequences: false).enumerated().map { index, part in
            index.isMultiple(of: 2) ? part : "…"
        }.joined()
    }

    /// Whether the service knows no function with that name and these arguments.
    var isAboutMissingFunction: Bool { code == "PGRST202" || isAboutUnknownFunction }

    /// Whether the database, or the service's schema cache, lacks something that every call needs: it is being set up, restored
    /// or changed, or the service has not noticed the change yet.
    var isAboutMissingParts: Bool {
        if isAboutMissingFunction { return true }
        guard let code else { return false }
        // The database was restored without its grants.
        if code == "42501", message.includes("function switchyard_") || message.includes("schema switchyard") {
            return true
        }
        return ["PGRST205", "PGRST125", "PGRST106", "42P01", "42P10", "3F000"].contains(code)
    }

    /// Whether the call is denied to whoever is not signed in. That the database lacks nothing then is known by the status.
    var isAboutSession: Bool { status == 401 && code == "42501" }

    /// The same code means that an operator does not fit a column's type.
    var isAboutUnknownFunction: Bool { code == "42883" && message.includes("function") }

    /// Whether the service is there, but has lost its database or waits for it, or is missing behind its gateway. Such a state
    /// usually ends within seconds.
    var isPassing: Bool {
        switch code {
        case nil: isWithoutDatabase || [502, 503].contains(status)
        case "PGRST000", "PGRST001", "PGRST002", "PGRST003", "57P01", "57P02", "57P03": true
        case let code?: code.hasPrefix("08")
        }
    }

    /// Whether the statement was stopped by a timeout.
    var isAboutTime: Bool { code == "57014" }

    /// Whether the token is too new for the database's clock: a newer one would be refused as well, and the same one is good later.
    var isAboutFuture: Bool { status == 401 && code == "PGRST303" && message.includes("issued at future") }

    /// Whether a newer token could help.
    var isAboutToken: Bool { status == 401 && code?.hasPrefix("PGRST30") != false && !isAboutFuture }
}

/// Maps the codes of the data service and the database to the portable codes.
extension StorageError {
    /// - Parameters:
    ///   - proof: The tokens of the refused call.
    ///   - issuer: The issuer of the token.
    ///   - address: The project's address.
    init(
        _ failure: PostgRESTFailure, asked proof: SupabaseTokens.RequestCredentials, issuer: InfrastructureProvider?,
        at address: String
    ) {
        if let problem = SupabaseTokenProblem(code: failure.code, text: failure.message, user: proof.user) {
            self.init(.unauthorized, problem.message(issuer), isRetryable: false, underlying: problem)
            return
        }
        if failure.code == "PGRST301", proof.user != nil, let issuer, issuer != .supabase {
            let problem = SupabaseTokenProblem.unknownIssuer
            self.init(.unauthenticated, problem.message(issuer), isRetryable: false, underlying: problem)
            return
        }
        self.init(failure)
        if let words = failure.setUpWords(isKeyOnly: proof.user == nil, at: address) { self = saying(words) }
    }

    init(_ failure: PostgRESTFailure) {
        let (code, isRetryable) = StorageError.meaning(of: failure)
        let isAboutBatch = ![.unauthenticated, .unknown, .internal].contains(code)
        self.init(
            code, failure.words, isRetryable: isRetryable, retryAfter: failure.retryAfter, underlying: failure,
            isRefusal: isAboutBatch && !isRetryable)
    }

    /// Why the database cannot run a query of a stream, as for a single read.
    ///
    /// - Parameter message: Empty from functions that are older than these.
    init(watching code: String, _ message: String) {
        let failure = PostgRESTFailure(
            code: code, message: message.isEmpty ? "The database cannot run the query (\(code))." : message)
        let error = StorageError(failure)
        let words = failure.setUpWords(isKeyOnly: false, at: "")
        // The stream has ended with it, and nothing is tried again.
        self = (words.map { error.saying($0) } ?? error).asLasting()
    }

    private static func meaning(of failure: PostgRESTFailure) -> (Code, Bool) {
        switch failure.code {
        case "PT404": return (.notFound, false)
        case "PT409", "23505": return (.alreadyExists, false)
        case "PT412", "23503": return (.failedPrecondition, false)
        case "42501": return failure.status == 401 ? (.unauthenticated, false) : (.unauthorized, false)
        case "PGRST303" where failure.isAboutFuture && failure.clockRemark == nil: return (.unavailable, true)
        case "PGRST301", "PGRST302", "PGRST303": return (.unauthenticated, true)
        case "PGRST202", "PGRST205", "PGRST125", "PGRST126", "PGRST106", "42P01", "0A000": return (.unsupported, false)
        case "42883" where failure.isAboutUnknownFunction: return (.unsupported, false)
        // A read-only copy of the database, for example during a repair.
        case "25006": return (.unavailable, true)
        case "PGRST000", "PGRST001", "PGRST002", "PGRST003", "57P01", "57P02", "57P03": return (.unavailable, true)
        case "40001", "40P01": return (.aborted, true)
        case "55P03": return (.unavailable, true)
        case "57014": return (.deadlineExceeded, true)
        default: break
        }
        // The database does not know the caller, whatever the code.
        if failure.status == 401 { return (.unauthenticated, failure.code == nil) }
        if failure.code == nil { return meaning(ofStrange: failure.status) }
        if let code = failure.code {
            if code.hasPrefix("PGRST1") || code.hasPrefix("PGRST2"), failure.status < 500 {
                return (.invalidArgument, false)
            }
            switch code.prefix(2) {
            case "08": return (.unavailable, true)
            // The service may not use the role in the token.
            case "28", "0L", "0P": return (.unauthenticated, false)
            case "22", "23", "42", "21": return (.invalidArgument, false)
            case "53", "54": return (.resourceExhausted, code.hasPrefix("53"))
            default: break
            }
        }
        switch failure.status {
        case 403: return (.unauthorized, false)
        case 408, 504: return (.deadlineExceeded, true)
        case 413: return (.resourceExhausted, false)
        case 429: return (.resourceExhausted, true)
        // The database's own refusal, such as a trigger's, will not change later.
        case 400..<500: return (.failedPrecondition, false)
        case 500...599: return (.internal, true)
        default: return (.unknown, false)
        }
    }

    /// An answer that is not the service's refuses nothing: the service itself may accept the call later.
    private static func meaning(ofStrange status: Int) -> (Code, Bool) {
        switch status {
        case 408, 504: (.deadlineExceeded, true)
        // What is too large for a proxy remains so.
        case 413: (.resourceExhausted, false)
        case 429: (.resourceExhausted, true)
        default: (.unavailable, true)
        }
    }
}

/// Explains setup problems that an answer reveals, and the next step.
extension PostgRESTFailure {
    /// - Parameters:
    ///   - isKeyOnly: Whether no one was signed in, so that only the key was refused.
    ///   - address: The project's address.
    /// - Returns: `nil` if the service's own text is good enough.
    func setUpWords(isKeyOnly: Bool, at address: String) -> String? {
        switch code {
        case nil where status == 401: return SetUpWords.refusedKey(at: address)
        case _ where isPassing:
            return SetUpWords.withoutDatabase(at: address, status: status, isReached: code != nil || isWithoutDatabase)
        case nil where status < 500 && ![408, 413, 429].contains(status):
            return SetUpWords.stranger(at: address, status: status, isPage: isPage)
        case "PGRST125": return SetUpWords.stranger(at: address, status: status, isPage: false)
        case "PGRST301" where isKeyOnly: return SetUpWords.refusedKey(at: address)
        case "PGRST303" where isAboutFuture && clockRemark == nil: return SetUpWords.differentClocks(words)
        case "PGRST303": return clockRemark.map { "The project refused the session's token (\(words)). \($0)" }
        case "42501" where isKeyOnly && isAboutSession && isAboutMissingParts: return SetUpWords.closed(words)
        case "42501" where isAboutMissingParts: return SetUpWords.missingParts(words)
        case "42501" where message == "not allowed":
            return "The policies do not allow it. Check the rules that the database has for this collection."
        case "42501": return "The policies do not allow it (\(words))."
        default: return nil
        }
    }
}

/// Messages about setup problems that all of a project's services share.
enum SetUpWords {
    /// A server answers that is not Supabase.
    static func stranger(at address: String, status: Int, isPage: Bool) -> String {
        "“\(address)” answered with \(isPage ? "a web page" : "nothing that Supabase says") (HTTP \(status)). "
            + "Check that the url is the project's own, and that no proxy or sign-in page of the network is in between."
    }

    /// - Parameter isReached: Whether the data service itself answered, and not a gateway before it.
    static func withoutDatabase(at address: String, status: Int, isReached: Bool) -> String {
        let subject =
            isReached
            ? "The data service at “\(address)” cannot reach its database"
            : "The gateway at “\(address)” cannot reach the data service"
        return
            "\(subject) (HTTP \(status)). That usually passes within seconds; if it does not, see the project's dashboard: "
            + "the database may be paused, restarting or out of connections."
    }

    /// The functions existed before, but the database or the service now lacks a part of them.
    static func missingParts(_ words: String) -> String {
        "The database lacks something that this client's functions need (\(words)). If that does not pass, run "
            + "“switchyard supabase install”."
    }

    /// Whoever is not signed in may call nothing.
    static func closed(_ words: String) -> String {
        "No one is signed in, and no collection is open to everybody (\(words)). Sign in first, or give a collection the rule "
            + "“public” in switchyard.rules."
    }

    /// The clock of the database is behind that of the auth server.
    static func differentClocks(_ words: String) -> String {
        "The database takes the session's new token for one from the future (\(words)): its clock is behind that of the auth "
            + "server. Synchronise the clocks of both. Until then calls succeed some time after each sign-in and refresh."
    }

    static func refusedKey(at address: String) -> String {
        "“\(address)” does not accept the key. Copy the publishable key of this very project: Project Settings, API Keys."
    }
}
