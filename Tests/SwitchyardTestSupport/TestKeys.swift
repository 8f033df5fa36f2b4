import Switchyard
package import SwitchyardServerKit

/// Keys that sign tokens of tests.
package enum TestKeys {
    /// For tests alone: everybody can read it here.
    package static let one = key(
        """
        MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQCYuGspw4ZOjCfUib4SEOT4AEsHg/Wq1/rObR+vdUZPlEcucNYtyYQEmA4U0YFc
        BAgaDT+alsqG8SPB6EtgEc6pNbpWb2sFMPht3YCgOI/oN4HEscOVrKhpQ8gwPaBXSYNaD4uQ5J1R5Avia7r3S83j8n1Wz27KVw8YJeIjSgw75pEB
        xGGo/wiisgmSOxIzWUiMmHEKYQM/HSHAKeHDz8YHG1MwGz4E/T2i90zsHEq+PWFTLMppnCYuv+klrVLTbyGzCPK3V/o5wyw6m8b32gEf+mNR8K5F
        GAot0W1epLq0R/pRU6hYODy0x88LuIumqjllBYDxnLZktkJ/Odqj+c09AgMBAAECggEAEnhLTZO+DIXa01ONTzYH2w5+BHyrG2xfgtOjv16ZkEpI
        iY9P992lP8D8AvyLfotmR3BOvu15tPQ49NyZMRc2PTSoQofbE5emk/Lz+WydyuHbqeQt2U42V/TAo0TwvV3AqwWyRWXAuQSxg0KwK/RZBDZxfiw8
        I/B/fNYoEUiFTkEWZIi+lznbdjfRKrufNRd1u4sjj3n89SP1tQLy6yIzLy1oTMQp/TozrNm0uG6GyrfoiLCUFpAu77rZXoOH5beRxwkZe5zxqtlX
        oyon8oOk5DCiT7nk4YuXUpj30dW0ZxuZkVCulrRt826wH6wnPj6UfKmOeSvxQE+2j8YBDOXMgQKBgQDRbRr4mQabPJBcFp8jF4xSK18KFZJETNba
        xxEgf8df+MKXdA7XGaTocYjkkwipL/EdEmefp3w+5ao9ZvZTjyRpU/HpIvbvw5fG6hrK4gdf8ht0MZRzEgA1p0jo6LygWSF7WOm0vekfkhxTJ/da
        iHxMDrlhiY0ZRJF/Eths5niaEQKBgQC6rvsXBkQtkvxLqhgHHacEXXMNVvIhnW2ng9S8axQEFOqch0HdSBnWe70JYpjKqg1fbeNPFv87t54xzjBt
        XYCL2B4P0pKcQ9C/7a0iLRdQ48r1Dsh6IrwS2yWKYKtfpJkBbYVom9OVCGwxVR1HQxH/Uda2WO6Gs7fCV39Pi0j0bQKBgGnt0u+dj27j4m0B8Dpy
        xcImN+tE3/f2GdMNT8dtem47yEmNJZh9WyFLlB9xk7boDgBTd+CUec7iogpu0veO9q7kC/+NdPPvrgyqCyVF0M8iCerqzRirKTn6RHGyjv5YNwxJ
        ++Q1Dv6uC++vzniXgq+B3xjL13fJbAKniJsEtEnRAoGAS39IfF9EY0n2ToNThE0xpkpEpThsY7vPBNgDyM9lIOF0oCjzMhJeoKcaJBmDwTJUhiti
        qjGatwPjLjE81H3j5qpYPf3i3N9wJK5yPkgODeCRy9lWqk4x0U5fOD8wD1X5quIn+c5LGxJ07t6FILS3KpJmSwhcLo2v2yCXlAu4TWECgYEAtoHo
        YLJphOSnEMbMfHE1135k6JmIbKjMgrcYEgtY7KCkANvREr8COlu9YiutvlHkPHFKOgKd0yhM+EHMgCp6UMSk16ROWkYFOHzsMQ2EHM+OpB2NOOvQ
        kwKgdVIUbkGvRfKf6voit0EIc8YjHM9l0S+uOHz9v0MsDStWj60pnz4=
        """)

    /// As public as the first.
    package static let another = key(
        """
        MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQDHu4FwixRR5+qTHDHigMp7CrV+O8iePBL5kiB869wJLCSSpprZfII3OZtpry9N
        gpOOjI6/EUs1CZLhZNoR5z3c7rCAeEmhZy96JDOaH2pwOwWaHn2t37CHm0ct50udTuP3mY4FbzKlK3mI0LbDhhGQUlpfmrOUb55fp3B4sGSwJYSv
        8V93LsURYKDwYL0n5xwG2+NVHDTlcr00DGQFlFZShOs10IPettChdMk5Lvde3Y+28BjneL9sRHxfM16HDXzUiqVmXeiFyhjW4jxuUICvRszveW/W
        hqObQFKxwlb22LtzxynYzT2g5GMD6Ous26CRIOYUl1QWPAVRwS7KGQ0xAgMBAAECggEAYY35+QhVUnQeJOBelS0muNZQM2nr4S2ibveqmplxDaHb
        8y0g8R1ZVLP0brg8OHWQsM2CY1yFCVC1xxVFVf1GQATtfLJD9Gu7ysKn2Z2ClXKel9pQtH5PcMytBYS1cA46VpNPxOO9LuN/Jw4aVoHDTmSK86tS
        Dyw9hKb5zlkJtOahTC4qQycJxiBzGw7EIgKdG9swJHVxdkF6z0n2ilu38V5HEVrO4aLSFFCboyiR4kimmTtvccD2VtDsuZVrFVjvyfKc02DoJJNC
        SN32qO9o0bQz3/z+kyI1tkxZFquWbn1eMRbVQin9AxQZs0ztgcg7ChuWBjX1X+5F1HgIiW2eiQKBgQDq/9VyT0I4s0QJOMjvx/6ud6mjyrJWvFnd
        jWpge1Bi01HFgpne8c2IwRO7V6H2HeKYYxgiqzRC8rWIehYPq0kn5Tn5O/FwZJPoqfV4thdkHWgqXqdbLABeK5jstA+HNDThjkLioX0nAkJzn+vK
        jsM99ES1aiCQzyfQSZnJ5pp+OwKBgQDZlNufeUOiOTWdbmq4A93g2PqV6qB1moaz6hf2W47WXH0nFBy25ne38cKbrbmvxLoVVcdah9Mc6A7J1w3B
        bK51IC04ro+AjBhVqrELAI1LlhF0WshV1Cc44EIbYdZ4uxul9QYPEM2LMt2GuV119yIu/oEtb78UW3GCBp6Ur58PgwKBgQCUEtYc7AIvFg4FvYkn
        RZ6dsnrq4RrUemQprSTdXHY/fyYkTPHFwBkhVX+oaUR9f0E7gh1AIx6QHLz0HPFvuB8li1OnTvUIO+fTD9zDzgEZLUpogDH1ydkFfXUjmSW7rNKx
        WWGdyeHBRbQ3hQofHSu7CwKMSS3x8QYGQYos5Sht5wKBgHTPZdkH0TeWXyJV1RVVfhjoZB94Bw0cGJUeaB7qqJSMsuP3+DJ5KGyobkIF0lp60ywB
        ETWZFc2/B7F0sv3UyxQ2YhC8Jm5sx+O177ZoZXLe7h/5XPQ3IZd3TgZFUE8gpIdENCyCaNcCR8u8WGCsfL2eBNvP0lWrghS8WQaaAlrhAoGAd7je
        LdX9JNDqJyUCdIBD9KPezV+hG2W1H5/OGVCo/IHZywSCzVzoCJQCmOuCo1NW2TBZsln0RPBYbkOIEaEYagi8oP7Jt+CL4bdEBRn+rUgbyQjYw+XX
        VdWOwtOo6kn/4V/SHBLiSy5QYEp/te8MK0mGoie4uSHioGyxUyhAoOE=
        """)

    private static func key(_ body: String) -> RSAPrivateKey {
        guard let key = RSAPrivateKey(pem: Secret("-----BEGIN PRIVATE KEY-----\n\(body)\n-----END PRIVATE KEY-----"))
        else {
            preconditionFailure("The keys of tests need OpenSSL's libcrypto.")
        }
        return key
    }
}
