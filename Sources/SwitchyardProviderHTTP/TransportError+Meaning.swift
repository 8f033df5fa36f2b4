package import Switchyard
package import SwitchyardWire

/// Maps transport failures to the portable codes, for all providers.
///
/// The code does not say whether the request took effect: after a lost answer, callers that can find out, or need not know, may
/// try again.
extension TransportError {
    package var meaning: ErrorCode {
        switch code {
        case .cancelled: .cancelled
        case .deadlineExceeded, .connectDeadlineExceeded, .stalled: .deadlineExceeded
        case .overloaded: .overloaded
        case .shutDown: .shutDown
        case .bodyTooLarge, .headTooLarge: .resourceExhausted
        case .invalidRequest: .invalidArgument
        default: .unavailable
        }
    }

    fileprivate var mayPass: Bool { [.unavailable, .overloaded, .deadlineExceeded].contains(meaning) }

    /// A message for people; `nil` if callers have a more specific one.
    fileprivate var refusalText: String? {
        guard code == .overloaded else { return nil }
        return "The call was not sent: \(message). Make fewer calls at a time, or try again later."
    }

    /// For services with short calls and small answers.
    fileprivate var details: ErrorDetails {
        let (code, text): (ErrorCode, String) =
            switch meaning {
            case .cancelled: (.cancelled, "The call was cancelled.")
            case .deadlineExceeded: (.deadlineExceeded, "The server did not respond in time.")
            case .overloaded: (.overloaded, refusalText ?? message)
            case .shutDown: (.shutDown, "The client was shut down.")
            case .invalidArgument: (.invalidArgument, message)
            default: (.unavailable, "Could not reach the server: \(message).")
            }
        return ErrorDetails(code, text, isRetryable: mayPass, underlying: self)
    }
}

extension StorageError {
    package init(_ error: TransportError) {
        let text =
            error.meaning == .unavailable
            ? "Could not reach the server: \(error.message)." : error.refusalText ?? error.message
        self.init(error.meaning, text, isRetryable: error.mayPass, underlying: error)
    }
}

extension FileStorageError {
    package init(_ error: TransportError) {
        let (code, isRetryable): (Code, Bool) =
            switch error.code {
            case .bodyTooLarge, .headTooLarge: (.tooLarge, false)
            case .requestBodyFailed, .fileFailed: (.localFile, false)
            case .untrustedPeer, .libraryUnavailable, .unsupported, .redirectRefused, .tooManyRedirects:
                (.unavailable, false)
            default: (error.meaning, error.mayPass)
            }
        self.init(
            code, error.refusalText ?? "The call could not be sent: \(error.message).", isRetryable: isRetryable,
            underlying: error)
    }
}

extension AuthError {
    package init(_ error: TransportError) { self.init(error.details) }
}

extension MessagingError {
    package init(_ error: TransportError) { self.init(error.details) }
}
