import Switchyard
import SwitchyardBytes
import SwitchyardWire

/// What the data service answered instead of a result.
struct PostgRESTFailure: Error, Hashable, Sendable {
    let status: Int
    /// The database's or the service's; `nil` for an answer that is neither's, such as a gateway's, and for one that says
    /// nothing, as the service's does when it has lost the database: then what was asked for may have been done.
    let code: String?
    let message: String
    /// In a refused batch the place of the write.
    let details: String?
    /// Whether it is a page for people, which the service never writes.
    let isPage: Bool
    /// What the time of the answer says of this device's clock, if that is wrong.
    var clockRemark: String?

    init(status: Int, body: [UInt8]) {
        self.status = status
        let json = try? JSON(parsing: body)
        isPage = body.isWebPage
        code = json.flatMap { PostgRESTFailure.code(in: $0) }
        let text = json?["message"]?.string ?? ""
        message =
            code == nil && text.isEmpty
            ? "Something answered with status \(status) and no reason: the data service without its database, or a gateway "
                + "or proxy before it."
            : text
        details = json?["details"]?.string
    }

    /// Codes of other servers look otherwise, or stand in other bodies. A function of the project's own may answer with any
    /// code, but in a body with all the members that the service's have.
    private static func code(in body: JSON) -> String? {
        guard let code = body["code"]?.string, !code.isEmpty, body["message"]?.string != nil else { return nil }
        let isState =
            code.utf8.count == 5
            && code.utf8.allSatisfy { (48...57).contains($0) || (65...90).contains($0) }
        let isWhole = body["details"] != nil && body["hint"] != nil
        return isState || code.hasPrefix("PGRST") || isWhole ? code : nil
    }

    /// The message, without what the database quotes in it where a value is none of a column's type.
    var words: String {
        guard let code, ["22P02", "22003", "22007", "22008"].contains(code) else { return message }
        return message.split(separator: "\"", omittingEmptySubsequences: false).enumerated().map { index, part in
            index.isMultiple(of: 2) ? part : "…"
        }.joined()
    }

    /// Whether the service knows no function of that name, or none with these arguments.
    var isAboutMissingFunction: Bool { code == "PGRST202" || isAboutUnknownFunction }

    /// Whether the database, or what the service knows of it, lacks what every call of the kind needs: it is being set up,
    /// restored or changed, or the service has not taken in yet that it was.
    var isAboutMissingParts: Bool {
        if isAboutMissingFunction { return true }
        guard let code else { return false }
        // Restored without its grants.
        if code == "42501", message.contains("function switchyard_") || message.contains("schema switchyard") {
            return true
        }
        return ["PGRST205", "PGRST125", "PGRST106", "42P01", "42P10", "3F000"].contains(code)
    }

    /// The same code tells that an operator does not fit a column's type.
    var isAboutUnknownFunction: Bool { code == "42883" && message.contains("function") }

    /// Whether the statement was stopped for taking too long.
    var isAboutTime: Bool { code == "57014" }

    /// Whether a newer token could help.
    var isAboutToken: Bool { status == 401 && code?.hasPrefix("PGRST30") != false }
}

/// The one table from the data service's and the database's codes to ours.
extension StorageError {
    /// - Parameters:
    ///   - proof: What the refused call went along with.
    ///   - issuer: Whose token that was.
    ///   - address: The project's.
    init(
        _ failure: PostgRESTFailure, asked proof: SupabaseTokens.Proof, issuer: InfrastructureProvider?,
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
            code, failure.words, isRetryable: isRetryable, underlying: failure,
            isRefusal: isAboutBatch && !isRetryable)
    }

    private static func meaning(of failure: PostgRESTFailure) -> (Code, Bool) {
        switch failure.code {
        case "PT404": return (.notFound, false)
        case "PT409", "23505": return (.alreadyExists, false)
        case "PT412", "23503": return (.failedPrecondition, false)
        case "42501": return failure.status == 401 ? (.unauthenticated, false) : (.unauthorized, false)
        case "PGRST301", "PGRST302", "PGRST303": return (.unauthenticated, true)
        case "PGRST202", "PGRST205", "PGRST125", "PGRST126", "PGRST106", "42P01", "0A000": return (.unsupported, false)
        case "42883" where failure.isAboutUnknownFunction: return (.unsupported, false)
        // A copy of the database that is only read, as for the time of a repair.
        case "25006": return (.unavailable, true)
        case "PGRST000", "PGRST001", "PGRST002", "PGRST003", "57P01", "57P02", "57P03": return (.unavailable, true)
        case "40001", "40P01": return (.aborted, true)
        case "55P03": return (.unavailable, true)
        case "57014": return (.deadlineExceeded, true)
        default: break
        }
        // Whoever asks is nobody that the database knows, whatever it calls that.
        if failure.status == 401 { return (.unauthenticated, failure.code == nil) }
        if failure.code == nil { return meaning(ofStrange: failure.status) }
        if let code = failure.code {
            if code.hasPrefix("PGRST1") || code.hasPrefix("PGRST2"), failure.status < 500 {
                return (.invalidArgument, false)
            }
            switch code.prefix(2) {
            case "08": return (.unavailable, true)
            // The service may not take the role that the token names.
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
        // The database's own word, such as a trigger's: it will not be another one later.
        case 400..<500: return (.failedPrecondition, false)
        case 500...599: return (.internal, true)
        default: return (.unknown, false)
        }
    }

    /// What is not the service's word about a call refuses nothing: another time, or elsewhere, the service will be asked.
    private static func meaning(ofStrange status: Int) -> (Code, Bool) {
        switch status {
        case 408, 504: (.deadlineExceeded, true)
        // What is too large for whatever lies between will be so the next time.
        case 413: (.resourceExhausted, false)
        case 429: (.resourceExhausted, true)
        default: (.unavailable, true)
        }
    }
}
