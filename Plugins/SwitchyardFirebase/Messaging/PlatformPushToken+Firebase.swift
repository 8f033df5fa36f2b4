public import Switchyard

extension PlatformPushToken.Service {
    /// The library on Android registers by itself, so servers use its token directly.
    public static let fcm = Self(rawValue: "fcm")
}
