import Foundation
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

    @Test func `Errors are equal if they say the same, whatever is beneath them`() {
        struct Odd: Error {}
        let error = StorageError(.unavailable, "Text.", retryAfter: .seconds(1), underlying: Odd())
        #expect(error == StorageError(.unavailable, "Text.", retryAfter: .seconds(1)))
        #expect(Set([error, StorageError(.unavailable, "Text.", retryAfter: .seconds(1))]).count == 1)
        #expect(error != StorageError(.unavailable, "Text."))
        #expect(error != StorageError(.unavailable, "Other.", retryAfter: .seconds(1)))
        #expect(error != StorageError(.unavailable, "Text.", isRetryable: false, retryAfter: .seconds(1)))
        #expect(error != StorageError(.aborted, "Text.", retryAfter: .seconds(1)))
        #expect(StorageError(.notFound, "Text.") != StorageError(.notFound, "Text.").asRefusal())
        #expect(AuthError(.notFound, "Text.") == AuthError(.notFound, "Text.", underlying: Odd()))
        #expect(UserError(.notFound, "Text.") != UserError(.cancelled, "Text."))
    }

    @Test(arguments: [
        ErrorCode.notFound, .unauthorized, .notAllowed, .unauthenticated, .unavailable, .networkError, .rateLimited,
        .invalidCredential, .emailInUse, .tooLarge, .localStore, ErrorCode(rawValue: "SOMETHING_NEW"),
    ])
    func `People see a sentence for the code, never the message for developers`(code: ErrorCode) throws {
        let error = AuthError(code, "Column “x” has no index.", isRetryable: true)
        let text = try #require(error.errorDescription)
        #expect(text.hasSuffix(".") && !text.isEmpty && error.localizedDescription == text)
        for shown in [text, error.recoverySuggestion ?? ""] {
            #expect(!shown.contains("Column") && !shown.contains("“"))
        }
        #expect(error.message == "Column “x” has no index.")
    }

    @Test func `Only what may be over next time is worth a suggestion to try again, if the code says nothing`() {
        let code = ErrorCode(rawValue: "SOMETHING_NEW")
        #expect(StorageError(code, "Text.", isRetryable: true).recoverySuggestion == "Try again later.")
        #expect(StorageError(code, "Text.").recoverySuggestion == nil)
        #expect(StorageError(.unavailable, "Text.").recoverySuggestion == "Check the network, then try again.")
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
