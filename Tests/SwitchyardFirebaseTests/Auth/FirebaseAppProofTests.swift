import Foundation
import Switchyard
import SwitchyardBytes
import SwitchyardTestSupport
import SwitchyardWire
import Testing

@testable import SwitchyardFirebase

/// What goes along with calls of auth about the app that makes them.
@Suite struct FirebaseAppProofTests {
    private let password = "/v1/accounts:signInWithPassword"

    @Test func `Proof of the app goes along where there is some, and the language where it was set`() async throws {
        let bed = try AuthBed(
            AuthBed.call("/v1/accounts:sendOobCode", #"{"email":"a@b.c"}"#), appCheck: .fixed("proof"))
        bed.client.useLanguage("fr")
        let back = try #require(URL(string: "https://app.example.com/back"))
        try await bed.client.sendEmailLink(to: "a@b.c", redirectURL: back)
        #expect(bed.transport.requests[0].request.headers["X-Firebase-AppCheck"] == "proof")
        #expect(bed.transport.requests[0].request.headers["X-Firebase-Locale"] == "fr")
        #expect(bed.body(0)["canHandleCodeInApp"]?.bool == true && bed.body(0)["requestType"]?.string == "EMAIL_SIGNIN")
    }

    @Test func `A restricted key gets the app that asks`() async throws {
        let bed = try AuthBed(
            AuthBed.call(password, "{\(AuthBed.tokens())}"), AuthBed.lookup(), AuthBed.refreshed("second"),
            bundleID: "com.example.app")
        try await bed.client.signIn(email: "a@b.c", password: "x")
        _ = try await bed.client.accessToken(refreshing: true)
        #expect(bed.transport.requests.count == 3)
        for recorded in bed.transport.requests {
            #expect(recorded.request.headers["X-Ios-Bundle-Identifier"] == "com.example.app")
        }
    }

    @Test(arguments: [(true, 1), (false, 2)])
    func `Proof of the app that is refused is renewed once, not for ever`(isTaken: Bool, refusals: Int) async throws {
        let refusal = AuthBed.refusal(password, "Firebase App Check token is invalid.", status: 401)
        let bed = try AuthBed(appCheck: FirebaseAppCheck { isRefused in isRefused ? "new" : "old" })
        for _ in 0..<refusals { bed.transport.expect(refusal) }
        if isTaken { bed.transport.expect(AuthBed.call(password, "{\(AuthBed.tokens())}"), AuthBed.lookup()) }
        let code = await bed.code { () async throws(AuthError) in
            try await bed.client.signIn(email: "a@b.c", password: "x")
        }
        #expect(code == (isTaken ? nil : AuthError.Code(rawValue: "INVALID_APP_CHECK_TOKEN")))
        let proofs = bed.transport.requests.map { $0.request.headers["X-Firebase-AppCheck"] }
        #expect(proofs == (isTaken ? ["old", "new", "old"] : ["old", "new"]))
        #expect(bed.bodies.first == bed.bodies.dropFirst().first)
        try bed.transport.verify()
    }

    @Test func `What is refused for another reason is not repeated with another proof of the app`() async throws {
        let bed = try AuthBed(
            AuthBed.refusal(password, "BLOCKING_FUNCTION_ERROR_RESPONSE : no App Check today", status: 401),
            appCheck: .fixed("proof"))
        let code = await bed.code { () async throws(AuthError) in
            try await bed.client.signIn(email: "a@b.c", password: "x")
        }
        #expect(code == AuthError.Code(rawValue: "BLOCKING_FUNCTION_ERROR_RESPONSE"))
        try bed.transport.verify()
    }
}
