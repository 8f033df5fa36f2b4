import Testing

@testable import SwitchyardSupabase

/// What is done about each reason that the service names.
@Suite struct RealtimeRemedyTests {
    @Test(arguments: [
        ("InvalidJWTToken: Token has expired 3 seconds ago", RealtimeRemedy.newToken), ("MalformedJWT", .newToken),
        ("JwtSignatureError: x", .newToken), ("JwtSignerError: x", .newToken),
        ("Unauthorized: You do not have permissions to read from this Channel topic: room", .never(.unauthorized)),
        ("PrivateOnly: x", .never(.refused)), ("TopicNameRequired: x", .never(.refused)),
        ("TenantNotFound: x", .never(.refused)), ("RealtimeDisabledForTenant: x", .never(.refused)),
        ("UnableToReplayMessages: Replay params are not valid", .withoutReplay),
        ("ChannelRateLimitReached: Too many channels", .never(.tooManyChannels)),
        ("ConnectionRateLimitReached: x", .muchLater), ("ClientJoinRateLimitReached: x", .muchLater),
        ("InitializingProjectConnection: x", .later), ("RealtimeRestarting: x", .later),
        ("UnableToConnectToProject", .later), ("DatabaseLackOfConnections: x", .later), ("QueryCanceled: x", .later),
        ("Realtime was unable to connect to the project database", .later), ("Unknown Error on Channel", .later),
        ("unmatched topic", .later), ("", .later), ("A word that is not known yet", .later),
    ])
    func `A refused join is given up, tried with a new token, or tried later`(
        _ reason: String, _ remedy: RealtimeRemedy
    ) {
        #expect(RealtimeRemedy(reason) == remedy)
    }

    @Test(arguments: [
        ("Too many messages per second", RealtimeRemedy.muchLater),
        ("Too many presence messages per second", .muchLater), ("Client presence rate limit exceeded", .muchLater),
        ("Token has expired 12 seconds ago", .newToken),
        ("You no longer have permission to read from this Channel topic: room", .never(.unauthorized)),
        ("Error parsing `filter` params: x", .never(.refused)), ("Error parsing `select` params: x", .never(.refused)),
        ("Unable to subscribe to changes with given parameters. x", .never(.refused)),
        ("Too many database timeouts", .later), ("Replication connection was not established in time", .later),
    ])
    func `What a channel receives before it is closed says whether to come back`(
        _ message: String, _ remedy: RealtimeRemedy
    ) {
        #expect(RealtimeRemedy(message) == remedy)
    }
}
