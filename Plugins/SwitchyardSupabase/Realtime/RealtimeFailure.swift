import Switchyard

/// Why a channel is over, or a message was not taken.
struct RealtimeFailure: Error, Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        /// The server takes neither the token nor a new one.
        case unauthenticated
        /// A policy does not let this user on the channel.
        case unauthorized
        /// The channel can never be what was asked for.
        case refused
        /// Too many channels on this socket: leave one first.
        case tooManyChannels
        /// Not now; a channel repairs itself, a message may be sent again.
        case unavailable
        /// No answer came: the message may have been taken, or a policy has swallowed it.
        case unanswered
        case tooLarge
        /// The topic is joined already, for something else.
        case topicInUse
        /// Left, or the socket was closed.
        case closed
    }

    let kind: Kind
    /// The server's name for it, without its text.
    let reason: String
    /// Why the session is of no use to the project, as far as that can be seen, and who made it.
    var problem: SupabaseTokenProblem?
    var issuer: InfrastructureProvider?

    init(_ kind: Kind, _ reason: String = "") {
        self.kind = kind
        self.reason = reason
    }

    /// There is no token, and will be none for whoever is signed in.
    init(_ failure: SupabaseTokens.Failure) {
        self.init(.unauthenticated, "the session is over")
        guard case .problem(let problem, let issuer) = failure else { return }
        (self.problem, self.issuer) = (problem, issuer)
    }

    /// The service does not say why a policy lets nobody in; of another issuer's session it can be guessed.
    func diagnosed(token: String?, issuer: InfrastructureProvider?) -> RealtimeFailure {
        guard kind == .unauthorized, let token, let issuer, issuer != .supabase,
            !SupabaseTokenProblem.hasUUID(Secret(token))
        else { return self }
        var failure = self
        (failure.problem, failure.issuer) = (.subjectIsNoUUID, issuer)
        return failure
    }
}

/// What can be done about a join, a channel or a socket that the server does not want.
enum RealtimeRemedy: Hashable, Sendable {
    case never(RealtimeFailure.Kind)
    /// With a token that is not the present one.
    case newToken
    case later
    /// Much later: the project is at a limit.
    case muchLater
    /// At once, without asking for what was missed.
    case withoutReplay

    /// The one table from the service's words to ours. Newer words count as passing trouble.
    init(_ reason: String) {
        let name = reason.prefix { $0 != ":" && $0 != " " }
        switch name {
        case "InvalidJWTToken", "MalformedJWT", "JwtSignatureError", "JwtSignerError": self = .newToken
        case "Unauthorized": self = .never(.unauthorized)
        case "PrivateOnly", "TopicNameRequired", "TenantNotFound", "RealtimeDisabledForTenant": self = .never(.refused)
        case "ChannelRateLimitReached": self = .never(.tooManyChannels)
        case "ConnectionRateLimitReached", "ClientJoinRateLimitReached": self = .muchLater
        default: self = RealtimeRemedy(text: reason)
        }
    }

    private init(text: String) {
        let permanent = [
            "You no longer have permission", "You do not have permissions to read from this Channel topic",
        ]
        let bindings = [
            "Unable to subscribe to changes with given parameters", "Error parsing `filter`", "Error parsing `select`",
            "No subscription params provided", "Column selection is not supported",
        ]
        let limits = [
            "Too many messages", "Too many presence messages", "Client presence rate limit", "Too many joins",
        ]
        let tokens = [
            "Token has expired", "Fields `role` and `exp`", "The token provided", "Failed to validate JWT",
            ":signature_error",
        ]
        let replays = ["UnableToReplayMessages", "Replay params are not valid", "Replay is not allowed"]
        if replays.contains(where: { text.contains($0) }) {
            self = .withoutReplay
        } else if permanent.contains(where: { text.contains($0) }) {
            self = .never(.unauthorized)
        } else if bindings.contains(where: { text.contains($0) }) {
            self = .never(.refused)
        } else if limits.contains(where: { text.contains($0) }) {
            self = .muchLater
        } else if tokens.contains(where: { text.contains($0) }) {
            self = .newToken
        } else {
            self = .later
        }
    }
}
