import Switchyard
import SwitchyardBytes
import SwitchyardFirestoreFormat
import SwitchyardWire

/// Maps Firestore's statuses and transport failures to the portable codes.
extension StorageError {
    init(_ failure: FirestoreFailure) {
        if let (code, words) = failure.setUpProblem {
            // Not a refusal, since the server did not examine the request, so queued writes keep waiting.
            self.init(code, words, isRetryable: false, underlying: failure, isRefusal: false)
            return
        }
        let (code, isRetryable): (Code, Bool) =
            switch failure.status {
            case .cancelled: (.unavailable, true)
            case .unknown: (.unknown, true)
            case .invalidArgument, .outOfRange: (.invalidArgument, false)
            case .deadlineExceeded: (.deadlineExceeded, true)
            case .notFound: (.notFound, false)
            case .alreadyExists: (.alreadyExists, false)
            case .permissionDenied: (.unauthorized, false)
            case .resourceExhausted: (.resourceExhausted, true)
            case .failedPrecondition: (.failedPrecondition, false)
            case .aborted: (.aborted, true)
            case .unimplemented: (.unsupported, false)
            case .internal: (.internal, true)
            case .unavailable: (.unavailable, true)
            // Not the code for an unreadable answer.
            case .dataLoss: (Code(rawValue: "dataLoss"), false)
            case .unauthenticated: (.unauthenticated, true)
            case .ok: (.unknown, false)
            }
        self.init(
            failure.foreignStatus.map { Code(rawValue: $0) } ?? code, failure.words, isRetryable: isRetryable,
            underlying: failure, isRefusal: !isRetryable && failure.status != .ok)
    }

    init(_ error: FirestoreFormatError) {
        self.init(.internal, "The server's response could not be read.", isRetryable: false, underlying: error)
    }

    init(_ failure: FirebaseTokens.Failure) { self.init(failure.meaning) }
}

extension FirestoreFailure {
    /// The problem with the project, its key or its database, and what to do about it; `nil` for any other failure.
    var setUpProblem: (ErrorCode, String)? {
        switch reason {
        case "API_KEY_INVALID": return (.unauthenticated, Self.refusedKey)
        case let reason? where reason.hasPrefix("API_KEY_"):
            return (
                .unauthenticated,
                "The API key may not be used for this (\(reason)). See its restrictions in the Google Cloud console: "
                    + "APIs & Services, Credentials."
            )
        case "CONSUMER_INVALID", "RESOURCE_PROJECT_INVALID":
            return (.failedPrecondition, "No project has this ID. Check project in Firebase's configuration.")
        case "SERVICE_DISABLED", "CONSUMER_SUSPENDED", "BILLING_DISABLED":
            return (.failedPrecondition, "The project does not offer Firestore. \(message)")
        case let reason?:
            return (.failedPrecondition, "Google refuses the project's calls (\(reason)). \(message)")
        case nil: break
        }
        if message.hasPrefix("API key not valid") { return (.unauthenticated, Self.refusedKey) }
        if status == .notFound, message.hasPrefix("The database "), message.includes("does not exist") {
            return (
                .failedPrecondition,
                "The project does not exist, or has no such database. Check project and database in Firebase's "
                    + "configuration. \(message)"
            )
        }
        return nil
    }

    /// The server's text, in a sentence if it has none.
    var words: String {
        switch status {
        case .permissionDenied: "The security rules do not allow it\(message.isEmpty ? "." : " (\(message)).")"
        case .unimplemented:
            "The server does not have this call\(message.isEmpty ? "." : " (\(message)).") A local server may lack what a "
                + "project has: check hosts and emulators in Firebase's configuration."
        case .notFound where documentName != nil: "There is no document at “\(documentName ?? "")”."
        case .alreadyExists where documentName != nil: "There is already a document at “\(documentName ?? "")”."
        default: message.isEmpty ? "Firestore answered \(foreignStatus ?? status.name) without a reason." : message
        }
    }

    /// The document's path in texts such as `No document to update: projects/p/databases/d/documents/rooms/a`.
    private var documentName: Substring? {
        guard message.hasPrefix("No document to update: ") || message.hasPrefix("Document already exists: ") else {
            return nil
        }
        return message.part(after: "/documents/")
    }

    private static let refusedKey =
        "The project does not accept the API key. Copy apiKey from the Firebase console: Project settings, General."
}
