import Testing

@testable import Switchyard

@Suite struct ClientErrorTests {
    @Test(arguments: [
        (ErrorCode.unavailable, true), (.deadlineExceeded, true), (.rateLimited, true), (.resourceExhausted, true),
        (.aborted, true), (.checksumMismatch, true), (.networkError, true), (.notFound, false), (.cancelled, false),
        (.shutDown, false), (.sessionChanged, false), (.unsupported, false),
        (ErrorCode(rawValue: "SOMETHING_NEW"), false),
    ])
    func `What may be over next time is worth another try, unless the error says otherwise`(
        code: ErrorCode, isRetryable: Bool
    ) {
        #expect(StorageError(code, "Text.").isRetryable == isRetryable)
        #expect(AuthError(code, "Text.").isRetryable == isRetryable)
        #expect(StorageError(code, "Text.", isRetryable: !isRetryable).isRetryable == !isRetryable)
    }

    @Test func `A code is caught by its name, whichever error has it`() {
        func caught<Failure: ClientError>(_ error: Failure) -> Bool {
            do throws(Failure) {
                throw error
            } catch .notFound {
                return true
            } catch {
                return false
            }
        }
        #expect(caught(StorageError(.notFound, "Text.")) && caught(FileStorageError(.notFound, "Text.")))
        #expect(!caught(UserError(.unknown, "Text.")))
    }

    @Test func `An error is described by its type, its code and its text`() {
        #expect("\(MessagingError(.rateLimited, "Wait."))" == "MessagingError(rateLimited): Wait.")
        #expect(
            FileStorageError.unsupported("moving", by: "acme", instead: "Copy it.").message
                == "File storage on “acme” does not support moving. Copy it.")
    }

    @Test func `A refusal is not worth another try, and can be taken back`() {
        let refusal = StorageError(.unavailable, "Never.").asRefusal()
        #expect(refusal.isRefusal && !refusal.isRetryable)
        #expect(!refusal.asRefusal(false).isRefusal)
        #expect(!StorageError(.unauthorized, "No.").isRefusal)
    }

    @Test func `Something else is wrapped once, and a cancellation is one`() {
        struct Odd: Error {}
        let wrapped = AuthError.wrapping(Odd())
        #expect(wrapped.code == .unknown && wrapped.underlying is Odd)
        #expect(AuthError.wrapping(wrapped).underlying is Odd)
        #expect(AuthError.wrapping(CancellationError()).code == .cancelled)
    }

    @Test(arguments: [
        (StorageError(.unauthenticated, "Text.") as any ClientError, ErrorCode.unauthenticated),
        (AuthError(.notSignedIn, "Text."), .unauthenticated), (AuthError(.sessionChanged, "Text."), .unauthenticated),
        (StorageError(.sessionChanged, "Text."), .serverError), (StorageError(.unauthorized, "Text."), .notAllowed),
        (FileStorageError(.tooLarge, "Text."), .invalidArgument), (FileStorageError(.notFound, "Text."), .notFound),
        (StorageError(.alreadyExists, "Text."), .alreadyExists), (AuthError(.unavailable, "Text."), .networkError),
        (StorageError(.deadlineExceeded, "Text."), .networkError), (AuthError(.rateLimited, "Text."), .serverError),
        (StorageError(.cancelled, "Text."), .cancelled), (StorageError(.localStore, "Text."), .serverError),
    ])
    func `A domain has few reasons, and keeps what its own error says`(error: any ClientError, code: ErrorCode) async {
        let failure = await #expect(throws: DomainError.self) { try await DomainError.mapping { throw error } }
        #expect(failure?.code == code && failure?.message == "Text.")
        #expect(failure?.isRetryable == error.isRetryable && failure?.underlying is any ClientError)
    }
}
