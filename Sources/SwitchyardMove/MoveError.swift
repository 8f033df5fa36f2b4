import Foundation
public import Switchyard

/// Why a move, a plan or a verification ended early.
public struct MoveError: ClientError {
    public static let area = "Move"
    public let details: ErrorDetails

    public init(_ details: ErrorDetails) { self.details = details }
}

extension MoveError {
    /// `error` as the reason why `operation` failed.
    ///
    /// - Parameter operation: Begins a sentence, such as “Reading “users” of firebase”.
    static func during(_ operation: String, _ error: any Error) -> MoveError {
        switch error {
        case let error as MoveError: error
        case is CancellationError: stopped
        case let error as any ClientError:
            error.code == .cancelled
                ? stopped
                : MoveError(
                    error.code, "\(operation) failed: \(error.message)", isRetryable: error.isRetryable,
                    retryAfter: error.retryAfter, underlying: error)
        default: MoveError(.unknown, "\(operation) failed with an unexpected error: \(error)", underlying: error)
        }
    }

    static let stopped = MoveError(.cancelled, "The move was stopped. Run it again with the same journal to continue.")

    static func archive(_ path: String, _ reason: String) -> MoveError {
        MoveError(.localStore, "The archive cannot be used: “\(path)”: \(reason)")
    }
}

extension ClientError {
    /// Whether it is about what was written, and not about the connection or the session: others may be written all the same.
    var concernsWrite: Bool { !isRetryable && ![.cancelled, .unauthenticated, .shutDown].contains(code) }
}
