import Switchyard
import SwitchyardFirestoreFormat
import SwitchyardWire

/// The one table from Firestore's statuses, and from what can happen on the way, to our codes.
extension StorageError {
    init(_ failure: FirestoreFailure) {
        guard !failure.isAboutProject else {
            // The set-up may be mended, so that a batch waits for it.
            self.init(
                .failedPrecondition, failure.message, isRetryable: false, underlying: failure, isRefusal: false)
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
            // Not the code of an answer that could not be read.
            case .dataLoss: (Code(rawValue: "dataLoss"), false)
            case .unauthenticated: (.unauthenticated, true)
            case .ok: (.unknown, false)
            }
        self.init(
            failure.foreignStatus.map { Code(rawValue: $0) } ?? code, failure.message, isRetryable: isRetryable,
            underlying: failure, isRefusal: !isRetryable && failure.status != .ok)
    }

    init(_ error: FirestoreFormatError) {
        self.init(.internal, "The server's response could not be read.", isRetryable: false, underlying: error)
    }

    init(_ failure: FirebaseTokens.Failure) { self.init(failure.meaning) }
}
