/** The environment variables that the code below reads. */
export const environment = (origin: string, id: string, secret: string) =>
  [`SENDBLUE_API_BASE_URL=${origin}`, `SENDBLUE_API_API_KEY=${id}`, `SENDBLUE_API_API_SECRET=${secret}`].join(
    '\n',
  )

const FROM = '+12025550100'
const TO = '+12025550101'

export type Language = 'curl' | 'typescript' | 'python' | 'go'

export const LANGUAGES: { value: Language; label: string }[] = [
  { value: 'curl', label: 'curl' },
  { value: 'typescript', label: 'TypeScript' },
  { value: 'python', label: 'Python' },
  { value: 'go', label: 'Go' },
]

export function snippet(language: Language, line = FROM, to = TO): string {
  switch (language) {
    case 'curl':
      return `curl -X POST "$SENDBLUE_API_BASE_URL/api/send-message" \\
  -H "sb-api-key-id: $SENDBLUE_API_API_KEY" \\
  -H "sb-api-secret-key: $SENDBLUE_API_API_SECRET" \\
  -H 'content-type: application/json' \\
  -d '{"from_number": "${line}", "number": "${to}", "content": "Hello"}'`
    case 'typescript':
      return `import SendblueAPI from 'sendblue'

const client = new SendblueAPI() // the three values come from the environment
const sent = await client.messages.send({
  from_number: '${line}',
  number: '${to}',
  content: 'Hello',
})
console.log(sent.message_handle)`
    case 'python':
      return `import os
import requests

answer = requests.post(
    os.environ["SENDBLUE_API_BASE_URL"] + "/api/send-message",
    headers={
        "sb-api-key-id": os.environ["SENDBLUE_API_API_KEY"],
        "sb-api-secret-key": os.environ["SENDBLUE_API_API_SECRET"],
    },
    json={"from_number": "${line}", "number": "${to}", "content": "Hello"},
    timeout=10,
)
answer.raise_for_status()
print(answer.json()["message_handle"])`
    case 'go':
      return `package main

import (
	"fmt"
	"net/http"
	"os"
	"strings"
)

func main() {
	body := strings.NewReader(\`{"from_number": "${line}", "number": "${to}", "content": "Hello"}\`)
	request, err := http.NewRequest("POST", os.Getenv("SENDBLUE_API_BASE_URL")+"/api/send-message", body)
	if err != nil {
		panic(err)
	}
	request.Header.Set("content-type", "application/json")
	request.Header.Set("sb-api-key-id", os.Getenv("SENDBLUE_API_API_KEY"))
	request.Header.Set("sb-api-secret-key", os.Getenv("SENDBLUE_API_API_SECRET"))
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		panic(err)
	}
	defer answer.Body.Close()
	fmt.Println(answer.Status)
}`
  }
}
