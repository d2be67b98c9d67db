package retry_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/go-curator/curator/retry"
)

func ExampleDo() {
	ctx := context.Background()
	tries := 0
	err := retry.Do(ctx, retry.ExponentialBackoff(time.Millisecond, 3), func(ctx context.Context) error {
		tries++
		if tries < 3 {
			return errors.New("connection loss")
		}
		return nil
	})
	fmt.Println(tries, err)
	// Output: 3 <nil>
}

func ExampleDoValue() {
	ctx := context.Background()
	port, err := retry.DoValue(ctx, retry.NTimes(3, time.Millisecond), func(ctx context.Context) (int, error) {
		return 2181, nil
	})
	fmt.Println(port, err)
	// Output: 2181 <nil>
}

func ExamplePermanent() {
	ctx := context.Background()
	errWrong := errors.New("wrong configuration")
	tries := 0
	err := retry.Do(ctx, retry.Forever(time.Second), func(ctx context.Context) error {
		tries++
		return retry.Permanent(errWrong)
	})
	fmt.Println(tries, err, errors.Is(err, errWrong))
	// Output: 1 wrong configuration true
}

func ExampleValidate() {
	// new ExponentialBackoffRetry(1000, 3), copied from a Java program.
	fmt.Println(retry.Validate(retry.ExponentialBackoff(1000, 3)))
	fmt.Println(retry.Validate(retry.ExponentialBackoff(1000*time.Millisecond, 3)))
	// Output:
	// invalid retry policy: ExponentialBackoff: base 1µs is shorter than a millisecond; Go durations are nanoseconds: 1000*time.Millisecond?
	// <nil>
}

func ExampleFromBackOff() {
	ctx := context.Background()
	policy := retry.FromBackOff(func() backoff.BackOff {
		return backoff.WithMaxRetries(backoff.NewConstantBackOff(time.Millisecond), 2)
	})
	tries := 0
	err := retry.Do(ctx, policy, func(ctx context.Context) error {
		tries++
		return errors.New("connection loss")
	})
	fmt.Println(tries, err)
	// Output: 3 connection loss
}
