import Foundation
import Switchyard
import Testing

@testable import SwitchyardFirebase

/// What platforms deliver, as the messages that they stand for.
@Suite struct RemoteMessageTests {
    private func message(_ json: String, wasOpened: Bool = false) async throws -> RemoteMessage? {
        try await MessagingBed(hasPushService: false).client.receive(
            RemotePayload(json: Data(json.utf8), wasOpened: wasOpened))
    }

    @Test func `Apple's dictionary`() async throws {
        let message = try await message(
            #"""
            {"aps":{"alert":{"title":"Hi","subtitle":"s","body":"There 😀"},"badge":1,"content-available":1},
             "gcm.message_id":"1699999999999999","google.c.sender.id":"1234567890","google.c.fid":"cIr","google.c.a.e":"1",
             "google.c.a.ts":"1699999999","fcm_options":{"image":"https://x/p.png"},"from":"/topics/news","orderId":"42",
             "nested":{"a":1}}
            """#, wasOpened: true)
        #expect(
            message
                == RemoteMessage(
                    id: "1699999999999999", title: "Hi", body: "There 😀",
                    data: ["orderId": "42", "nested": #"{"a":1}"#], topic: "news",
                    sentAt: Timestamp(Date(timeIntervalSince1970: 1_699_999_999)), wasOpened: true))
    }

    @Test func `An alert that is the text itself, and a message without any`() async throws {
        #expect(try await message(#"{"aps":{"alert":"There"},"gcm.message_id":"1"}"#)?.body == "There")
        let silent = try await message(#"{"aps":{"content-available":1},"gcm.message_id":"2","from":"1234"}"#)
        #expect(silent?.title == nil && silent?.body == nil && silent?.topic == nil)
    }

    @Test func `A browser's message`() async throws {
        let message = try await message(
            #"""
            {"from":"1234567890","collapse_key":"do_not_collapse","fcmMessageId":"uuid","productId":123,
             "notification":{"title":"Hi","body":"There","click_action":"…"},"data":{"orderId":"42"}}
            """#)
        #expect(message == RemoteMessage(id: "uuid", title: "Hi", body: "There", data: ["orderId": "42"]))
    }

    @Test func `Android's map`() async throws {
        let message = try await message(
            #"{"google.message_id":"0:1","gcm.notification.title":"Hi","gcm.notification.body":"There","google.sent_time":"1699999999123","from":"/topics/a%b","orderId":"42","collapse_key":"c"}"#
        )
        #expect(message?.title == "Hi" && message?.body == "There" && message?.data == ["orderId": "42"])
        #expect(message?.topic == "a%b" && message?.sentAt?.nanoseconds == 123_000_000)
    }

    @Test(arguments: ["{}", "[]", "null", "5", #"{"aps":{"alert":"x"}}"#, #"{"aps":5}"#, #"{"gcm.message_id":7}"#])
    func `A message that did not come through Firebase is ignored`(json: String) async throws {
        #expect(try await message(json) == nil)
    }

    @Test(arguments: ["", "{", "\u{0}"])
    func `What is no JSON is refused`(json: String) async throws {
        await #expect(throws: MessagingError.self) { try await message(json) }
    }
}
