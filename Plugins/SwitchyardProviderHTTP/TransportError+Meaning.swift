package import Switchyard
package import SwitchyardWire

/// What can happen to a request on its way, in the codes of all services: the one table for all providers.
///
/// Whether anything came of the request is another question: a lost answer is worth another attempt to whoever can find
/// that out, or need not.
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

    /// For people; `nil` where there is more to say than that.
    fileprivate var refusalText: String? {
        guard code == .overloaded else { return nil }
        return "The call was not sent: \(message). Make fewer calls at a time, or try again later."
    }

    /// For services whose calls are short and ask for nothing large.
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
