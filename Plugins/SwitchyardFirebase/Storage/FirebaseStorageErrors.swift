import Switchyard
import SwitchyardFirestoreFormat
import SwitchyardWire

/// Maps Firestore's statuses and transport failures to the portable codes.
extension StorageError {
    init(_ failure: FirestoreFailure) {
        if let (code, words) = failure.setUpProblem {
            // Not a refusal, since the server did not look at the request, so queued writes keep waiting.
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
