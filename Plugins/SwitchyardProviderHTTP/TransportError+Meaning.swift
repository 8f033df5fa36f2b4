package import Switchyard
package import SwitchyardWire

/// What can happen to a request on its way, in the codes of each service: the one table for all providers.
///
/// Whether anything came of the request is another question: a lost answer is worth another attempt to whoever can find
/// that out, or need not.
extension StorageError {
    package init(_ error: TransportError) {
        let code: Code =
            switch error.code {
            case .cancelled: .cancelled
            case .deadlineExceeded, .connectDeadlineExceeded, .stalled: .deadlineExceeded
            case .shutDown: .shutDown
            case .bodyTooLarge, .headTooLarge: .resourceExhausted
            case .invalidRequest: .invalidArgument
            default: .unavailable
            }
        self.init(
            code, error.message, isRetryable: code == .unavailable || code == .deadlineExceeded, underlying: error)
    }
}

extension FileStorageError {
    package init(_ error: TransportError) {
        let (code, isRetryable): (Code, Bool) =
            switch error.code {
            case .cancelled: (.cancelled, false)
            case .deadlineExceeded, .connectDeadlineExceeded, .stalled: (.deadlineExceeded, true)
            case .shutDown: (.shutDown, false)
            case .bodyTooLarge, .headTooLarge: (.tooLarge, false)
            case .invalidRequest: (.invalidArgument, false)
            case .requestBodyFailed, .fileFailed: (.localFile, false)
            case .untrustedPeer, .libraryUnavailable, .unsupported, .redirectRefused, .tooManyRedirects:
                (.unavailable, false)
            default: (.unavailable, true)
            }
        self.init(code, "The server could not be asked: \(error.message).", isRetryable: isRetryable, underlying: error)
    }
}

extension AuthError {
    package init(_ error: TransportError) {
        let (code, message) = error.meaning
        self.init(code, message, underlying: error)
    }
}

extension MessagingError {
    package init(_ error: TransportError) {
        let (code, message) = error.meaning
        self.init(code, message, underlying: error)
    }
}

extension TransportError {
    /// For services whose calls are short and ask for nothing large.
    fileprivate var meaning: (code: ErrorCode, message: String) {
        switch code {
        case .cancelled: (.cancelled, "The call was cancelled.")
        case .deadlineExceeded, .connectDeadlineExceeded, .stalled:
            (.deadlineExceeded, "The server did not answer in time.")
        case .shutDown: (.shutDown, "The client was shut down.")
        case .invalidRequest: (.invalidArgument, message)
        default: (.unavailable, "The server cannot be reached: \(message).")
        }
    }
}
