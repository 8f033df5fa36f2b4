import FirestoreFormat
import Switchyard
import SwitchyardWire

/// The one table from Firestore's statuses, and from what can happen on the way, to our codes.
extension StorageError {
    init(_ failure: FirestoreFailure) {
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
            case .dataLoss: (.internal, false)
            case .unauthenticated: (.unauthenticated, true)
            case .ok: (.unknown, false)
            }
        self.init(code, failure.message, isRetryable: isRetryable, underlying: failure)
    }

    init(_ error: TransportError) {
        let code: Code =
            switch error.code {
            case .cancelled: .cancelled
            case .deadlineExceeded, .connectDeadlineExceeded, .stalled: .deadlineExceeded
            case .shutDown: .shutDown
            case .bodyTooLarge, .headTooLarge: .resourceExhausted
            case .invalidRequest: .invalidArgument
            default: .unavailable
            }
        // Whether anything came of it is another question: a lost answer is worth another attempt with a ledger only.
        let isRetryable = code == .unavailable || code == .deadlineExceeded
        self.init(code, error.message, isRetryable: isRetryable, underlying: error)
    }

    init(_ error: FirestoreFormatError) {
        self.init(.internal, "The server's answer could not be read.", isRetryable: false, underlying: error)
    }

    init(_ failure: FirebaseTokens.Failure) {
        switch failure {
        case .unsafeAddress:
            // Not a refusal of what was asked for, so that nothing that waits in a queue is given up.
            self.init(
                .unauthenticated, "The address is plain HTTP to another machine; tokens are not sent there.",
                isRetryable: false)
        case .auth(let error):
            let (code, isRetryable): (Code, Bool) =
                switch error.code {
                case .cancelled: (.cancelled, false)
                case .shutDown: (.shutDown, false)
                case .unavailable, .deadlineExceeded, .rateLimited: (.unavailable, true)
                case .sessionChanged: (.unavailable, true)
                default: (.unauthenticated, false)
                }
            self.init(code, "There is no token: \(error.message)", isRetryable: isRetryable, underlying: error)
        case .appCheck(let error):
            self.init(
                .unauthenticated, "The source of App Check tokens failed.", isRetryable: true, underlying: error)
        }
    }
}
