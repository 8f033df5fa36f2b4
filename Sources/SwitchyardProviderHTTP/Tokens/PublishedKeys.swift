package import Switchyard
import SwitchyardBytes
package import SwitchyardWire
import Synchronization

/// The published keys of an issuer, fetched for the first token and cached for as long as the issuer allows.
///
/// A token may name any key, so an unknown name causes another fetch at most once a minute. If a fetch fails, cached keys
/// remain valid for another day, and there is no other for five seconds, however many tokens come.
package final class PublishedKeys: Sendable {
    package enum Form: Sendable {
        /// `{"keys": […]}`.
        case keySet
        /// Certificates by key name.
        case certificates
    }

    private struct State {
        var keys: [String: TokenKey] = [:]
        /// When the keys expire.
        var goodUntil = Duration.zero
        var attemptedAt: Duration?
        /// Why the last attempt failed; `nil` while there is another one.
        var failure: TokenError?
    }

    private let address: String
    private let form: Form
    private let longest: Duration
    private let transport: any Transport
    private let clock: any Clock<Duration>
    private let watch: Stopwatch
    private let state = Mutex(State())
    private let flight = SingleFlight<Void, TokenError>(cancellation: {
        TokenError(.cancelled, "The call was cancelled.")
    })

    private static let deadline = Duration.seconds(10)
    private static let usualLife = Duration.seconds(3600)
    private static let shortest = Duration.seconds(60)
    package static let usualLongest = Duration.seconds(86_400)
    /// The minimum time between fetches for unknown names.
    package static let pause = Duration.seconds(60)
    /// The minimum time between a failed attempt and the next one.
    package static let pauseAfterFailure = Duration.seconds(5)
    private static let grace = Duration.seconds(86_400)

    /// - Parameter longest: How long keys are used at most, whatever the issuer allows.
    package init(
        _ address: String, _ form: Form, longest: Duration = PublishedKeys.usualLongest, transport: any Transport,
        clock: any Clock<Duration>
    ) {
        self.address = address
        self.form = form
        self.longest = longest
        self.transport = transport
        self.clock = clock
        watch = Stopwatch(clock)
    }

    private enum Finding {
        case key(TokenKey)
        /// The keys must be fetched; the given key can be used if that fails.
        case fetch(TokenKey?)
        case unknown
        /// The last attempt has just failed.
        case failed(TokenError)
    }

    /// - Parameter id: The key name in the token; `nil` for the only key.
    package func key(_ id: String?) async throws(TokenError) -> TokenKey {
        switch find(id) {
        case .key(let key): return key
        case .unknown: throw Self.unknownKey
        case .failed(let error): throw error
        case .fetch(let old):
            do throws(TokenError) {
                try await flight.run { [self] () async throws(TokenError) in
                    // Another call may have fetched them since the check above.
                    if case .fetch = find(id) { try await fetch() }
                }
            } catch {
                guard let old else { throw error }
                return old
            }
            switch find(id) {
            case .key(let key): return key
            case .failed(let error): throw error
            case .fetch, .unknown: throw Self.unknownKey
            }
        }
    }

    private func find(_ id: String?) -> Finding {
        let now = watch.elapsed
        return state.withLock { state in
            let key = id.map { state.keys[$0] } ?? (state.keys.count == 1 ? state.keys.values.first : nil)
            let lastAttempt = state.attemptedAt.map { now - $0 }
            if now < state.goodUntil {
                if let key { return .key(key) }
                return lastAttempt.map { $0 < Self.pause } == true ? .unknown : .fetch(nil)
            }
            let isGoodEnough = now < state.goodUntil + Self.grace
            if lastAttempt.map({ $0 < Self.pauseAfterFailure }) == true {
                if let key, isGoodEnough { return .key(key) }
                if let failure = state.failure { return .failed(failure) }
            }
            return .fetch(isGoodEnough ? key : nil)
        }
    }

    private static let unknownKey = TokenError(
        .invalidSignature, "The token names a key that the project has not published. Is it another project's?")

    private func fetch() async throws(TokenError) {
        state.withLock { state in
            state.attemptedAt = watch.elapsed
            state.failure = nil
        }
        do throws(TokenError) {
            try await fetchOnce()
        } catch {
            // An attempt that all callers gave up says nothing about the issuer.
            guard error.code == .unavailable else { throw error }
            state.withLock { state in
                state.attemptedAt = watch.elapsed
                state.failure = error
            }
            throw error
        }
    }

    private func fetchOnce() async throws(TokenError) {
        var request = HTTPRequest(.get, address, isIdempotent: true)
        request.maximumBodySize = 1 << 20
        let response: HTTPResponse
        do throws(TransportError) {
            response = try await transport.send(request, within: Self.deadline, clock: clock)
        } catch {
            throw TokenError(error)
        }
        guard response.isSuccess, let keys = Self.keys(in: response.body, form), !keys.isEmpty else {
            throw TokenError(
                .unavailable,
                "The project's keys could not be fetched: \(address) answered with status \(response.status) and without keys."
            )
        }
        let life = min(Self.life(response.headers["Cache-Control"]), longest)
        state.withLock { state in
            state.keys = keys
            state.goodUntil = watch.elapsed + life
        }
    }

    private static func keys(in body: [UInt8], _ form: Form) -> [String: TokenKey]? {
        guard let json = try? JSON(parsing: body) else { return nil }
        var keys: [String: TokenKey] = [:]
        switch form {
        case .keySet:
            // Skip keys of other kinds and unreadable ones, even if they share a name with a usable key.
            for (index, entry) in (json["keys"]?.array ?? []).enumerated() {
                if let key = TokenKey(entry) { keys[entry["kid"]?.string ?? "\(index)"] = key }
            }
        case .certificates:
            for entry in json.object ?? [:] {
                keys[entry.key] = entry.value.string.flatMap { TokenKey(certificate: $0) }
            }
        }
        return keys
    }

    package static func life(_ cacheControl: String?) -> Duration {
        let ages = (cacheControl ?? "").split(separator: ",").compactMap { part -> Int? in
            let pair = part.split(separator: "=")
            guard pair.count == 2, pair[0].trimmedWord == "max-age" else { return nil }
            return Int(pair[1].trimmedWord)
        }
        guard let age = ages.first else { return usualLife }
        return min(max(.seconds(min(age, 1 << 30)), shortest), usualLongest)
    }
}

extension Substring {
    fileprivate var trimmedWord: String { split(separator: " ").joined().lowercased() }
}

extension TokenError {
    package init(_ error: TransportError) {
        let isOver = error.meaning == .shutDown || error.meaning == .cancelled
        self.init(
            isOver ? error.meaning : .unavailable,
            isOver ? "The check was ended." : "The project could not be asked: \(error.message).", underlying: error)
    }

    /// The library for checking signatures is missing.
    package static let noCryptography = TokenError(
        .unsupported, "Checking signatures requires OpenSSL's libcrypto. Install the package libssl3 or libssl1.1.")
}

extension TokenError {
    /// The error for a token whose lookup at the issuer failed.
    ///
    /// Only the issuer's answer about the session or the account invalidates the token. A refused key or credential is this
    /// server's own problem, and an outage is temporary: neither may sign users out.
    package init(lookingUp error: AuthError) {
        let failed = "The session of the token could not be looked up: \(error.message)"
        switch error.code {
        case .userDisabled: self.init(.userDisabled, error.message, underlying: error)
        case .sessionExpired, .notSignedIn, .userNotFound:
            self.init(.tokenRevoked, "The session was ended. Sign in again.", underlying: error)
        case .cancelled, .shutDown, .unsupported: self.init(error.code, error.message, underlying: error)
        case .unavailable, .overloaded, .deadlineExceeded, .rateLimited:
            self.init(
                .unavailable, failed, isRetryable: error.isRetryable, retryAfter: error.retryAfter, underlying: error)
        default: self.init(.failedPrecondition, failed, isRetryable: false, underlying: error)
        }
    }
}
