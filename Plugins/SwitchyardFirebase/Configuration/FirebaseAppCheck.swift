public import Switchyard

/// A source of App Check tokens, which prove that a request comes from the genuine app.
///
/// How an app proves this (DeviceCheck, Play Integrity, a debug token of the console) depends on the platform and is up to the
/// app; the app or its server exchanges the proof for a token at the App Check service. The source caches the token and renews
/// it before it expires; it is called once per request.
public struct FirebaseAppCheck: Sendable {
    let token: @Sendable (_ isRefused: Bool) async throws -> Secret

    /// - Parameter token: Returns the current token, or a new one if `isRefused` is set, because the server refused the last.
    public init(token: @escaping @Sendable (_ isRefused: Bool) async throws -> Secret) { self.token = token }

    /// A token that is valid as long as the process runs, for tests.
    public static func fixed(_ token: Secret) -> FirebaseAppCheck { FirebaseAppCheck { _ in token } }
}
